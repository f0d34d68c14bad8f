#!/usr/bin/python3
"""Steps per second of a training task in PyTorch and in attnscope, in turn, one thread each:

    bench/peers/train_torch.py build/release/bin/attnscope [--task induction] [--steps 100] [--rounds 5]

Needs python3-torch. The model is that of `attnscope train --task …` (core/learn/tasks.cpp), written as PyTorch is
usually written: the whole batch at once, eager. Initial values and sentences differ, sizes and work do not.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import time

os.environ["OMP_NUM_THREADS"] = "1"
import torch
import torch.nn.functional as F

torch.set_num_threads(1)


def induction(batch):
    tokens = torch.empty(batch, 24, dtype=torch.long)
    targets = torch.full((batch, 24), -1)
    for b in range(batch):
        period = int(torch.randint(3, 11, (1,)))
        word = torch.randperm(16)[:period]
        tokens[b] = word.repeat(24 // period + 1)[:24]
        targets[b, period:-1] = tokens[b, period + 1 :]
    return tokens, targets


def reverse(batch):
    tokens = torch.randint(0, 12, (batch, 12))
    return tokens, tokens.flip(1)


TASKS = {
    "induction": dict(draw=induction, words=16, length=24, layers=2, heads=2, causal=True, batch=16,
                      optimizer=lambda p: torch.optim.AdamW(p, lr=1e-2, weight_decay=1e-2)),
    "reverse": dict(draw=reverse, words=12, length=12, layers=1, heads=1, causal=False, batch=32,
                    optimizer=lambda p: torch.optim.Adam(p, lr=1e-2)),
}


class Layer(torch.nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.norm = torch.nn.LayerNorm(d)
        self.q, self.k, self.v, self.o = (torch.nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x, closed):
        y = self.norm(x)
        B, N, d = y.shape
        q, k, v = (p(y).view(B, N, self.heads, -1).transpose(1, 2) for p in (self.q, self.k, self.v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(d // self.heads)
        if closed is not None:
            scores = scores.masked_fill(closed, -math.inf)
        return x + self.o((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, N, d))


class Stack(torch.nn.Module):
    def __init__(self, task, d=32):
        super().__init__()
        self.E, self.P = torch.nn.Embedding(task["words"], d), torch.nn.Embedding(task["length"], d)
        self.layers = torch.nn.ModuleList(Layer(d, task["heads"]) for _ in range(task["layers"]))
        self.norm, self.out = torch.nn.LayerNorm(d), torch.nn.Linear(d, task["words"], bias=False)
        closed = torch.triu(torch.ones(task["length"], task["length"], dtype=torch.bool), 1)
        self.closed = closed if task["causal"] else None

    def forward(self, tokens):
        x = self.E(tokens) + self.P.weight
        for layer in self.layers:
            x = layer(x, self.closed)
        return self.out(self.norm(x))


def torch_rate(task, steps):
    model = Stack(task)
    optimizer = task["optimizer"](model.parameters())
    batches = [task["draw"](task["batch"]) for _ in range(steps)]  # drawing is not timed

    start = time.perf_counter()
    for tokens, targets in batches:
        loss = F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten(), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return steps / (time.perf_counter() - start)


def our_rate(program, name, steps):
    """Drawing the sentences is timed."""
    command = ["taskset", "-c", "0", program, "train", "--task", name, "--steps", str(steps), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return steps / json.loads(done.stdout)["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--task", choices=TASKS, default="induction")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    task = TASKS[arguments.task]
    torch_rate(task, 10)  # warms up
    ratios, ours, theirs = [], [], []
    for _ in range(arguments.rounds):
        theirs.append(torch_rate(task, arguments.steps))
        ours.append(our_rate(arguments.program, arguments.task, arguments.steps))
        ratios.append(ours[-1] / theirs[-1])
    print(f"{arguments.task}: steps per second, medians of {arguments.rounds} rounds: PyTorch {torch.__version__} "
          f"{statistics.median(theirs):.0f}, attnscope {statistics.median(ours):.0f}; ratio {statistics.median(ratios):.2f} "
          f"({min(ratios):.2f} to {max(ratios):.2f})")


main()
