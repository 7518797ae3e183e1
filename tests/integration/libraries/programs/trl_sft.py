"""Fine-tune a small decoder on recipes."""
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import SFTConfig, SFTTrainer

set_seed(0)
FOOD = "rice beans corn pasta bread butter cheese onion garlic pepper salt sugar milk cream flour egg".split()
VERBS = "chop fry boil bake stir mix pour heat cool serve".split()
texts = [f"{VERBS[i % 10]} the {FOOD[i % 16]} with {FOOD[(3 * i + 1) % 16]} and {VERBS[(i + 3) % 10]} it" for i in range(96)]

words = sorted({w for t in texts for w in t.split()})
vocabulary = {w: i for i, w in enumerate(["<pad>", "<unk>", "</s>", *words])}
backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>", eos_token="</s>")

config = LlamaConfig(
    vocab_size=len(words),
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
    pad_token_id=0,
    eos_token_id=2,
)
model = LlamaForCausalLM(config)
arguments = SFTConfig(
    output_dir="out",
    per_device_train_batch_size=8,
    num_train_epochs=2,
    learning_rate=1e-3,
    logging_steps=2,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    bf16=False,
    max_length=32,
)
trainer = SFTTrainer(model=model, args=arguments, train_dataset=Dataset.from_dict({"text": texts}), processing_class=tokenizer)
trainer.train()
