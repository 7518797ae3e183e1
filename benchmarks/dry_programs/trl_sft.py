"""trl's SFTTrainer on a model from a configuration and a tokenizer that is made here."""

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import SFTConfig, SFTTrainer

words = ["the", "a", "cat", "dog", "sees", "runs", "home", "fast", "slow", "and", "then"]
vocabulary = {word: i for i, word in enumerate(["<pad>", "<eos>", "<unk>", *words])}
raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
)

model = Qwen2ForCausalLM(
    Qwen2Config(
        vocab_size=len(vocabulary), hidden_size=128, intermediate_size=256, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2,
    )
)  # fmt: skip
texts = [" ".join(words[(i * k) % len(words)] for k in range(1, 20)) for i in range(400)]
trainer = SFTTrainer(
    model=model,
    args=SFTConfig(
        output_dir="out", max_length=64, per_device_train_batch_size=8, num_train_epochs=2, report_to=[]
    ),
    train_dataset=Dataset.from_dict({"text": texts}),
    processing_class=tokenizer,
)
trainer.train()
trainer.save_model("out/last")
