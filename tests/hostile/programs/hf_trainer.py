# journals: 1
# needs: transformers accelerate
# env: HF_HUB_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1
# scrub: '(train|eval)_(runtime|samples_per_second|steps_per_second)': '?[^,}]+'?
# scrub: \d\d:\d\d<[^\]]+\]
"""transformers.Trainer on a made-up model: the loop is the library's."""
import torch
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(0)


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 2)

    def forward(self, x, labels=None):
        logits = self.body(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


class Printer(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        print("step", state.global_step, sorted(kwargs))

    def on_log(self, args, state, control, logs=None, **kwargs):
        print({k: repr(v) for k, v in logs.items() if k in ("loss", "grad_norm", "learning_rate", "eval_loss")})


data = [{"x": torch.randn(4), "labels": torch.tensor(i % 2)} for i in range(16)]
arguments = TrainingArguments(
    "out", max_steps=4, per_device_train_batch_size=4, logging_steps=1, report_to=[], use_cpu=True,
    disable_tqdm=True, eval_strategy="steps", eval_steps=2, save_strategy="no", seed=0,
)
trainer = Trainer(Classifier(), arguments, train_dataset=data, eval_dataset=data[:4], callbacks=[Printer()])
print(repr(trainer.train().training_loss))
torch.save(trainer.model.state_dict(), "final.pt")
