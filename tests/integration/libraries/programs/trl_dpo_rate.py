import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed
from trl import DPOConfig, DPOTrainer

set_seed(0)
SUBJECTS = "the cat,the dog,my uncle,a bird,the teacher,our train,that song,her phone".split(",")
GOOD = "is kind and calm,was helpful today,sounds lovely,will be fine".split(",")
BAD = "is awful and loud,was rude today,sounds terrible,will be late".split(",")
rows = [
    {"prompt": f"tell me about {SUBJECTS[i % 8]}", "chosen": GOOD[i % 4], "rejected": BAD[(i + 1) % 4]}
    for i in range(64)
]
words = sorted({w for r in rows for t in r.values() for w in t.split()})
vocabulary = {w: i for i, w in enumerate(["<pad>", "<unk>", "</s>", *words])}
backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>", eos_token="</s>")


def make_model():
    config = LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, eos_token_id=2,
    )
    return LlamaForCausalLM(config)


model = make_model()
reference = make_model()
reference.load_state_dict(model.state_dict())

arguments = DPOConfig(
    output_dir="out",
    per_device_train_batch_size=8,
    max_steps=24,
    learning_rate=30.0,
    beta=0.1,
    logging_steps=4,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    bf16=False,
    max_length=48,
)
DPOTrainer(model=model, ref_model=reference, args=arguments, train_dataset=Dataset.from_list(rows), processing_class=tokenizer).train()
