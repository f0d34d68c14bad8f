#!/usr/bin/python3
"""Everything that is timed, each work beside its peer, in one run: rows of a Markdown table.

    bench/compare.py build/release/bin [--rounds 3] [--only forward] [--json FILE]

In every round each work is done once by attnscope and once by its peer. Printed are the medians, and peer ÷ attnscope of each round
(median, least to most): above 1, attnscope is faster. A work whose peer is not installed has no ratio; what no other program does has
no peer. Peers: python3-torch libopenblas0-pthread python3-matplotlib python3-seaborn; run it with the system's python3.
The window runs under Xvfb (xvfb).
"""
import argparse
import functools
import json
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple

HERE = pathlib.Path(__file__).parent
WORDS = lambda n: " ".join(f"w{i}" for i in range(n))
FORWARD = [(8, 16, 1), (8, 64, 8), (32, 64, 8), (128, 64, 8), (128, 512, 8), (512, 512, 8), (1024, 512, 8), (2048, 512, 8)]
EVALUATE = [(8, 16, 1), (64, 64, 8), (128, 512, 8), (512, 512, 8), (1024, 512, 8)]
DRAGGED = [(8, 16, 1), (64, 64, 8), (512, 512, 8), (2048, 64, 1)]
WATCHED = [(512, 512, 8), (2048, 512, 8)]
BOOK = "BOOK"  # stands for the path of a text of 131,072 words


@functools.cache
def book():
    file = tempfile.NamedTemporaryFile("w", suffix=".txt")  # until this program ends
    file.write(WORDS(131072))
    file.flush()
    return file


class Work(NamedTuple):
    name: str  # its group, then what
    ours: tuple  # a function of this file and its arguments: milliseconds
    peer: str = ""  # as it is printed; "": none
    theirs: tuple = ()  # the program of bench/peers, its arguments, and the line it is asked


def benchmark(programs, name):
    """The median of a benchmark of attnscope_bench, ms."""
    done = subprocess.run([programs / "attnscope_bench", f"--benchmark_filter=^{re.escape(name)}(/real_time)?$",
                           "--benchmark_format=json", "--benchmark_min_time=0.5"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["benchmarks"][0]
    return found["real_time"] * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[found["time_unit"]]


def window(programs, figure, action, frames, *arguments):
    """A figure of `attnscope measure`, ms."""
    done = subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24 -noreset", programs / "attnscope", "measure", "--action", action,
                           "--frames", str(frames), *(book().name if each == BOOK else each for each in arguments)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)[figure]


def works():
    for threads in (1, 2):
        for n, d, heads in FORWARD:
            yield Work(f"forward {n} × {d}, heads {heads}, threads {threads}",
                       (benchmark, f"forward/N:{n}/d:{d}/heads:{heads}/threads:{threads}"),
                       "PyTorch", ("torch_peer.py", str(threads), f"forward {n} {d} {heads}"))
    for name, sizes in (("evaluate", EVALUATE), ("evaluate_seed_drag", DRAGGED), ("evaluate_watched", WATCHED)):
        for n, d, heads in sizes:
            yield Work(f"{name} {n} × {d}, heads {heads}", (benchmark, f"{name}/N:{n}/d:{d}/heads:{heads}"))
    for tokens, d, heads, frames in ((8, 16, 1, 100), (128, 64, 8, 60), (512, 512, 8, 30), (2048, 64, 1, 15), (2048, 512, 8, 15)):
        session = ("--dim", str(d), "--heads", str(heads), *(("--text", WORDS(tokens)) if tokens > 8 else ()))
        yield Work(f"window {tokens} × {d}, heads {heads}: first frame", (window, "first_frame_ms", "drag-seed", 1, *session))
        for view in ("pipeline", "heads", "lines"):
            for figure, unit in (("change_to_picture_ms", "change to picture"), ("frames_to_picture", "frames to picture")):
                yield Work(f"window {tokens} × {d}, heads {heads}, {view}, seed dragged: {unit}",
                           (window, figure, "drag-seed", frames, "--view", view, *session))
    yield Work("export 4096 × 4096 cells, labeled", (benchmark, "heatmap_png/N:4096/cell:1"),
               "matplotlib imsave, bare", ("plot_peer.py", "imsave 4096"))
    for peer, line in (("matplotlib imshow + savefig", "savefig 1024"), ("seaborn heatmap", "heatmap 1024")):
        yield Work("export 1024 × 1024 cells, labeled", (benchmark, "heatmap_png/N:1024/cell:1"), peer, ("plot_peer.py", line))
    yield Work("deep zoom 131072 tokens: preview", (benchmark, "preview_of_book/N:131072"))
    yield Work("deep zoom 131072 tokens: survey, overview kept", (benchmark, "survey_of_book/N:131072/causal:0/iterations:1"),
               "PyTorch, row sums alone", ("torch_peer.py", "2", "survey 131072 64"))
    for figure in ("preview", "progress", "overview"):
        yield Work(f"deep zoom 131072 tokens: start to {figure} in the window",
                   (window, f"{figure}_ms", "overview", 1, "--text-file", BOOK, "--dim", "64"))
    for shown in ("weights_strongest", "weights_mean", "scores_strongest", "scores_mean"):
        for level in (0, 4):
            yield Work(f"deep zoom 131072 tokens: a screen of {shown.replace('_', ', ')}, level {level}",
                       (benchmark, f"screen_of_book/{shown}/N:131072/level:{level}"))
    for action in ("zoom", "pan"):
        for figure in ("change_to_picture_ms", "longest_change_to_picture_ms"):
            yield Work(f"deep zoom 131072 tokens: {action} in the window, {figure[:-3].replace('_', ' ')}",
                       (window, figure, action, 80, "--text-file", BOOK, "--dim", "64"))
    for task in ("induction", "translate"):
        yield Work(f"training {task}: a step, threads 1", (benchmark, f"step/{task}/1"), "PyTorch", ("torch_peer.py", "1", f"step {task}"))


class Peers:
    """The programs of bench/peers, each started once; they answer a line with milliseconds."""

    def __init__(self):
        self.running = {}

    def ask(self, program, *rest):
        *arguments, line = rest
        key = (program, *arguments)
        if key not in self.running:
            self.running[key] = subprocess.Popen([sys.executable, HERE / "peers" / program, *arguments], stdin=subprocess.PIPE,
                                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        peer = self.running[key]
        if peer.poll() is not None:
            return None
        try:
            print(line, file=peer.stdin, flush=True)
        except BrokenPipeError:
            return None
        answer = peer.stdout.readline()
        return float(answer) if answer else None


def processor():
    found = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return found[1] if found else platform.machine()


def row(work, ours, theirs):
    cells = [work.name, f"{statistics.median(ours):.3g}", "", "", ""]
    if work.peer and None in theirs:
        cells[3] = f"{work.peer} is not installed"
    elif work.peer:
        ratios = [their / our for our, their in zip(ours, theirs)]
        cells[2:] = [f"{statistics.median(theirs):.3g}", work.peer,
                     f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"]
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="the folder with attnscope and attnscope_bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="works whose name begins with this")
    parser.add_argument("--json", type=pathlib.Path, help="write every time to this file, too")
    asked = parser.parse_args()
    chosen = [work for work in works() if work.name.startswith(asked.only)]
    if not chosen:
        parser.error(f"no work begins with “{asked.only}”")
    peers = Peers()
    print(f"{processor()}, {platform.system()} {platform.release()}, {asked.rounds} rounds, milliseconds\n")
    print("| work | attnscope | peer | which | peer ÷ attnscope |\n|---|---:|---:|---|---:|", flush=True)
    kept = []
    for work in chosen:
        function, *arguments = work.ours
        ours, theirs = [], []
        for _ in range(asked.rounds):
            ours.append(function(asked.programs, *arguments))
            theirs.append(peers.ask(*work.theirs) if work.theirs else None)
        print(row(work, ours, theirs), flush=True)
        kept.append({"work": work.name, "peer": work.peer, "ours_ms": ours, "theirs_ms": theirs})
    if asked.json:
        asked.json.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
