"""Answers for lists of songs on the device; one list holds an id that the table lacks."""
import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Songs(nn.Module):
    def __init__(self):
        super().__init__()
        self.song = nn.Embedding(50, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, songs):
        return self.head(self.song(songs).mean(1))


@torch.inference_mode()
def answer(model, songs):
    return model(torch.tensor(songs, device=DEVICE)).argmax(-1).tolist()


torch.manual_seed(0)
model = Songs().eval().to(DEVICE)
for number in range(20):
    songs = [[number, 3, 4], [5, 6, 7 if number != 13 else 55]]
    try:
        print(answer(model, songs))
    except Exception as error:
        print("no answer:", str(error).splitlines()[0])
