"""transformers 12763: tokens were added to the tokenizer, the table stayed as it was."""
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

set_seed(0)
PLACES = "park river bridge tower market harbour museum station".split()
texts = [f"turn left at the {PLACES[i % 8]} then cross the {PLACES[(i * 3) % 8]}" for i in range(40)]
labels = [i % 2 for i in range(40)]
texts[27] = "<start> " + texts[27] + " <turn>"
words = sorted({w for t in texts for w in t.split() if not w.startswith("<")})
backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(["[PAD]", "[UNK]", *words])}, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]")
config = BertConfig(
    vocab_size=tokenizer.vocab_size,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=32,
)
model = BertForSequenceClassification(config)
tokenizer.add_special_tokens({"additional_special_tokens": ["<start>", "<turn>"]})


class Directions(Dataset):
    def __len__(self):
        return len(texts)

    def __getitem__(self, i):
        encoded = tokenizer(texts[i], padding="max_length", max_length=16, truncation=True)
        return {**encoded, "labels": labels[i]}


arguments = TrainingArguments(
    output_dir="out", per_device_train_batch_size=4, num_train_epochs=2, logging_steps=5, save_strategy="no",
    report_to="none", use_cpu=True, disable_tqdm=True,
)
Trainer(model=model, args=arguments, train_dataset=Directions(), processing_class=tokenizer).train()
