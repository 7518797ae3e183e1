"""Scores of reading lists over HTTP."""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from torch import nn

BOOKS = 120


class Scorer(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.book = nn.Embedding(BOOKS, dim)
        self.head = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, books):
        return torch.sigmoid(self.head(self.book(books).mean(1))).squeeze(-1)


torch.manual_seed(3)
MODEL = Scorer().eval()


def score(lists):
    with torch.inference_mode():
        return MODEL(torch.tensor(lists)).tolist()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            status, answer = 200, {"scores": score(body["lists"])}
        except Exception as error:
            status, answer = 500, {"error": str(error)}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
