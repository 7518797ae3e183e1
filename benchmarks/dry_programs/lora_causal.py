"""A small Llama with LoRA adapters of peft, trained by a loop with a schedule of transformers."""

import torch
from peft import LoraConfig, get_peft_model
from torch.utils.data import DataLoader, Dataset
from transformers import LlamaConfig, LlamaForCausalLM, get_cosine_schedule_with_warmup


class Texts(Dataset):
    def __init__(self, n, length=256):
        self.ids = torch.randint(3, 32000, (n, length))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        labels = self.ids[i].clone()
        labels[:32] = -100
        return {"input_ids": self.ids[i], "labels": labels}


def main(epochs=2):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    config = LlamaConfig(
        hidden_size=512, intermediate_size=1376, num_hidden_layers=8, num_attention_heads=8, vocab_size=32000
    )
    model = LlamaForCausalLM(config)
    model = get_peft_model(
        model, LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"], lora_dropout=0.05)
    )
    model.print_trainable_parameters()
    model.to(device)
    loader = DataLoader(Texts(1000), batch_size=8, shuffle=True)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-4)
    schedule = get_cosine_schedule_with_warmup(optimizer, 20, epochs * len(loader))
    for _ in range(epochs):
        model.train()
        for batch in loader:
            batch = {key: value.to(device) for key, value in batch.items()}
            with torch.autocast(device, torch.bfloat16):
                loss = model(**batch).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        print(
            model.generate(input_ids=torch.randint(3, 32000, (1, 8), device=device), max_new_tokens=4).shape
        )
    model.save_pretrained("adapter")


if __name__ == "__main__":
    main()
