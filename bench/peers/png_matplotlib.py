#!/usr/bin/python3
"""Heatmaps as PNG in matplotlib and in attnscope, in turn:

    bench/peers/png_matplotlib.py build/release/bin/attnscope_bench [--rounds 5]

Needs python3-matplotlib. The values are normal. `imsave` writes one pixel a cell
and nothing else; `savefig` draws axes, a color bar and labels, at one pixel a cell. Ours always draws all of these.
"""
import argparse
import io
import json
import statistics
import subprocess
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np


def scores(n):
    return np.random.default_rng(0).standard_normal((n, n)).astype(np.float32)


def imsave(n):
    out = io.BytesIO()
    plt.imsave(out, scores_of[n], cmap="RdBu", format="png")
    return out.tell()


def savefig(n):
    side = n / 100
    figure, axes = plt.subplots(figsize=(side * 1.25, side * 1.25), dpi=100)
    image = axes.imshow(scores_of[n], cmap="RdBu")
    figure.colorbar(image)
    ticks = range(0, n, n // 32)
    axes.set_xticks(ticks, [f"w{i}" for i in ticks], rotation=90)
    axes.set_yticks(ticks, [f"w{i}" for i in ticks])
    out = io.BytesIO()
    figure.savefig(out, format="png")
    plt.close(figure)
    return out.tell()


def ours(program, n):
    done = subprocess.run([program, f"--benchmark_filter=^heatmap_png/N:{n}/cell:1", "--benchmark_format=json"],
                          capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["benchmarks"][0]
    return found["real_time"], found["bytes"]


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("--rounds", type=int, default=5)
arguments = parser.parse_args()
scores_of = {n: scores(n) for n in (1024, 4096)}
for name, draw, n in (("imsave", imsave, 4096), ("imshow + savefig", savefig, 1024)):
    ratios, mine, theirs = [], [], []
    for _ in range(arguments.rounds):
        start = time.perf_counter()
        their_bytes = draw(n)
        theirs.append((time.perf_counter() - start) * 1000)
        milliseconds, our_bytes = ours(arguments.program, n)
        mine.append(milliseconds)
        ratios.append(theirs[-1] / milliseconds)
    print(f"{n} × {n}: {name} {statistics.median(theirs):.0f} ms, {their_bytes / 1e6:.2f} MB; attnscope "
          f"{statistics.median(mine):.0f} ms, {our_bytes / 1e6:.2f} MB; ratio {statistics.median(ratios):.1f} "
          f"({min(ratios):.1f} to {max(ratios):.1f})")
