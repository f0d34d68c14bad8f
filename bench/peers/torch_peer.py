#!/usr/bin/python3
"""The same work in PyTorch, for bench/compare.py: reads a work a line, answers with its milliseconds.

    bench/peers/torch_peer.py THREADS      then, for example: forward 128 512 8

    product N             two N × N matrices multiplied: the fastest of some
    forward N D HEADS     X (N × D) and four D × D projections given; every head's weights and the output kept: the faster of
                          nn.MultiheadAttention (weights per head) and the plain operators
    survey N D            the maximum and the sum of every row of softmax(Q Kᵀ ÷ √D), N × N never in memory as a whole
    step TASK             a step of training: the model of `attnscope train --task TASK` (core/learn/tasks.cpp), as PyTorch is
                          usually written: the whole batch at once, eager. Initial values and sentences differ, sizes do not.

float32. Needs python3-torch and libopenblas0-pthread.
"""
import math
import os
import statistics
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = sys.argv[1]
if "avx512f" in open("/proc/cpuinfo").read():
    os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")  # Debian's OpenBLAS takes slow kernels on newer processors
import torch
import torch.nn.functional as F

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)


def milliseconds(work, seconds=0.5, of=statistics.median):
    """The median (or another one) of at least five calls, after one that is not timed."""
    work()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return of(times)


def product(n):
    a, b = torch.randn(n, n), torch.randn(n, n)
    return milliseconds(lambda: a @ b, of=min)


def forward(n, d, heads):
    module = torch.nn.MultiheadAttention(d, heads, batch_first=True).eval()
    x = torch.randn(1, n, d)
    projections = [torch.randn(d, d) / math.sqrt(d) for _ in range(4)]

    def plain():
        q, k, v = ((x @ w).view(1, n, heads, d // heads).transpose(1, 2) for w in projections[:3])
        weights = (q @ k.transpose(-1, -2) / math.sqrt(d // heads)).softmax(-1)
        return weights, (weights @ v).transpose(1, 2).reshape(1, n, d) @ projections[3]

    with torch.inference_mode():
        return min(milliseconds(lambda: module(x, x, x, need_weights=True, average_attn_weights=False)), milliseconds(plain))


def survey(n, d, rows=512):
    """Once, as it takes seconds."""
    q, k = torch.randn(n, d), torch.randn(n, d)
    start = time.perf_counter()
    with torch.inference_mode():
        for block in q.split(rows):
            scores = block @ k.T / math.sqrt(d)
            largest = scores.amax(-1, keepdim=True)
            (scores - largest).exp_().sum(-1)
    return (time.perf_counter() - start) * 1000


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


def translate(batch):
    """Sentences as long as those of the task: 5 to 10 words, 4 to 9 fed and predicted words and <eos>; padded."""
    lengths = torch.randint(5, 11, (batch,))
    source = torch.zeros(batch, int(lengths.max()), dtype=torch.long)
    fed = torch.zeros(batch, int(lengths.max()) + 1, dtype=torch.long)
    targets = torch.full_like(fed, -1)
    for b, length in enumerate(lengths):
        source[b, :length] = torch.randint(0, 33, (int(length),))
        words = torch.randint(2, 49, (int(length),))
        fed[b, 1 : length + 1] = words
        targets[b, :length], targets[b, length] = words, 1
    return (source, lengths, fed), targets


TASKS = {
    "induction": dict(draw=induction, words=16, length=24, layers=2, heads=2, causal=True, batch=16,
                      optimizer=lambda p: torch.optim.AdamW(p, lr=1e-2, weight_decay=1e-2)),
    "reverse": dict(draw=reverse, words=12, length=12, layers=1, heads=1, causal=False, batch=32,
                    optimizer=lambda p: torch.optim.Adam(p, lr=1e-2)),
    "translate": dict(draw=translate, batch=32, clip=5, optimizer=lambda p: torch.optim.Adam(p, lr=5e-3)),
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


class Translator(torch.nn.Module):
    """Bahdanau's encoder and decoder, 32 wide."""

    def __init__(self, d=32, source_words=33, target_words=49):
        super().__init__()
        self.source, self.target = torch.nn.Embedding(source_words, d), torch.nn.Embedding(target_words, d)
        self.encoder = torch.nn.GRU(d, d, bidirectional=True, batch_first=True)
        self.start = torch.nn.Linear(d, d)
        self.W, self.U, self.v = (torch.nn.Linear(n, m, bias=False) for n, m in ((d, d), (2 * d, d), (d, 1)))
        self.cell = torch.nn.GRUCell(3 * d, d)
        self.out = torch.nn.Linear(4 * d, target_words)

    def forward(self, inputs):
        source, lengths, fed = inputs
        packed = torch.nn.utils.rnn.pack_padded_sequence(self.source(source), lengths, batch_first=True, enforce_sorted=False)
        states, last = self.encoder(packed)
        h, _ = torch.nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
        closed = torch.arange(h.shape[1])[None] >= lengths[:, None]
        s, keys, words, outputs = torch.tanh(self.start(last[1])), self.U(h), self.target(fed), []
        for step in range(fed.shape[1]):
            scores = self.v(torch.tanh(self.W(s)[:, None] + keys)).squeeze(-1).masked_fill(closed, -math.inf)
            c = (scores.softmax(-1)[:, None] @ h).squeeze(1)
            s = self.cell(torch.cat([words[:, step], c], 1), s)
            outputs.append(torch.cat([s, words[:, step], c], 1))
        return self.out(torch.stack(outputs, 1))


def step(name, steps=100):
    task = TASKS[name]
    model = Translator() if "clip" in task else Stack(task)
    optimizer = task["optimizer"](model.parameters())
    batches = [task["draw"](task["batch"]) for _ in range(steps)]  # drawing is not timed
    start = time.perf_counter()
    for tokens, targets in batches:
        loss = F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten(), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        if "clip" in task:
            torch.nn.utils.clip_grad_norm_(model.parameters(), task["clip"])
        optimizer.step()
    return (time.perf_counter() - start) * 1000 / steps


WORKS = {work.__name__: work for work in (product, forward, survey, step)}
for line in sys.stdin:
    name, *sizes = line.split()
    print(WORKS[name](*(int(size) if size.isdigit() else size for size in sizes)), flush=True)
