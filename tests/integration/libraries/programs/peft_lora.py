import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(3)
config = GPT2Config(vocab_size=40, n_positions=32, n_embd=32, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
model = get_peft_model(model, LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], fan_in_fan_out=True, task_type="CAUSAL_LM"))
model.print_trainable_parameters()

ids = torch.arange(16).repeat(48, 1) + torch.randint(3, 20, (48, 1))
loader = torch.utils.data.DataLoader(ids, batch_size=8, shuffle=True)
model.train()
for epoch in range(6):
    total = 0.0
    for batch in loader:
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
    print(f"epoch {epoch}: {total / len(loader):.4f}")
