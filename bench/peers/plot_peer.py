#!/usr/bin/python3
"""The same heatmap by what Python draws with, for bench/compare.py: reads a work a line, answers with its milliseconds
and the megabytes of its file.

    bench/peers/plot_peer.py      then, for example: imsave 4096

    imsave N      matplotlib: one pixel a cell, and nothing else
    savefig N     matplotlib: axes, a color bar and labels at every N ÷ 32nd cell, one pixel a cell
    heatmap N     seaborn: the same

Values are normal. Needs python3-matplotlib, python3-seaborn.
"""
import io
import sys
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np


def figure_of(n):
    side = n / 100 * 1.25
    return plt.subplots(figsize=(side, side), dpi=100)


def png_of(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png")
    plt.close(figure)
    return file


def imsave(values):
    file = io.BytesIO()
    plt.imsave(file, values, cmap="RdBu", format="png")
    return file


def savefig(values):
    n = len(values)
    figure, axes = figure_of(n)
    figure.colorbar(axes.imshow(values, cmap="RdBu"))
    ticks = range(0, n, n // 32)
    axes.set_xticks(ticks, [f"w{i}" for i in ticks], rotation=90)
    axes.set_yticks(ticks, [f"w{i}" for i in ticks])
    return png_of(figure)


def heatmap(values):
    import seaborn

    n = len(values)
    figure, axes = figure_of(n)
    labels = [f"w{i}" if i % (n // 32) == 0 else "" for i in range(n)]
    seaborn.heatmap(values, cmap="RdBu", xticklabels=labels, yticklabels=labels, ax=axes)
    return png_of(figure)


WORKS = {work.__name__: work for work in (imsave, savefig, heatmap)}
for line in sys.stdin:
    name, n = line.split()
    values = np.random.default_rng(0).standard_normal((int(n), int(n))).astype(np.float32)
    start = time.perf_counter()
    file = WORKS[name](values)
    print((time.perf_counter() - start) * 1000, file.getbuffer().nbytes / 1e6, flush=True)
