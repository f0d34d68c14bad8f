#!/usr/bin/env python3
"""The pass and the product of the graphics card: attnscope beside PyTorch, in turn.

    bench/peers/gpu_torch.py build/release/bin/attnscope_bench [--rounds 3]

The work is the same on both sides: X (N × 512) and four 512 × 512 projections given; every head's weights (8 × N × N) and the
output kept; and X·Yᵀ, both N × 512. float32, without TF32. Each side by the card's own clock. PyTorch's pass is the faster of
the plain operators and torch.nn.MultiheadAttention. Needs PyTorch with CUDA, and a driver with OpenGL 4.3.
"""
import argparse, json, statistics, subprocess

import torch

D, HEADS, CALLS = 512, 8, 20
SIZES = {"forward": (128, 256, 512, 1024, 2048, 4096, 8192), "product": (128, 256, 512, 1024, 2048, 4096, 8192, 16384)}


def milliseconds(work):
    """The median of some calls, after two that are not timed."""
    work(), work()
    times = []
    for _ in range(CALLS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def product(n):
    x, y = torch.randn(n, D, device="cuda"), torch.randn(n, D, device="cuda")
    return milliseconds(lambda: x @ y.T)


def forward(n):
    x = torch.randn(n, D, device="cuda")
    projections = [torch.randn(D, D, device="cuda") / D**0.5 for _ in range(4)]
    module = torch.nn.MultiheadAttention(D, HEADS, bias=False, batch_first=True, device="cuda").eval()

    def operators():
        q, k, v = ((x @ w.T).view(n, HEADS, -1).transpose(0, 1) for w in projections[:3])
        weights = torch.softmax(q @ k.transpose(1, 2) / (D / HEADS) ** 0.5, -1)
        return weights, (weights @ v).transpose(0, 1).reshape(n, D) @ projections[3].T

    batch = x[None]
    return min(
        milliseconds(operators),
        milliseconds(lambda: module(batch, batch, batch, need_weights=True, average_attn_weights=False)),
    )


def ours(bench):
    """Milliseconds on the card, by ("forward" or "product", N)."""
    run = subprocess.run(
        [bench, "--benchmark_filter=(forward|product)_gpu/N:[0-9]+/d:512", "--benchmark_format=json"],
        capture_output=True, text=True, check=True)
    times = {}
    for each in json.loads(run.stdout)["benchmarks"]:
        if "error_message" in each:
            continue
        kind, n = each["name"].split("_gpu/N:")
        assert each["time_unit"] == "ms"
        times[kind, int(n.split("/")[0])] = each["real_time"]
    return times


parser = argparse.ArgumentParser()
parser.add_argument("bench")
parser.add_argument("--rounds", type=int, default=3)
arguments = parser.parse_args()
torch.backends.cuda.matmul.allow_tf32 = False
rounds = []
with torch.inference_mode():
    for _ in range(arguments.rounds):
        here = ours(arguments.bench)
        peer = {(kind, n): globals()[kind](n) for kind, sizes in SIZES.items() for n in sizes}
        rounds.append((here, peer))
print(f"on {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
for kind, sizes in SIZES.items():
    for n in sizes:
        both = [(here[kind, n], peer[kind, n]) for here, peer in rounds if (kind, n) in here]
        if not both:
            continue
        ratios = sorted(theirs / mine for mine, theirs in both)
        print(f"{kind:8} N {n:6}   ours {statistics.median(b[0] for b in both):9.3f} ms   "
              f"torch {statistics.median(b[1] for b in both):8.3f} ms   "
              f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
