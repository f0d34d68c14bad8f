#!/usr/bin/python3
"""Everything that is timed, each work beside its peer and its goal, in one run: rows of a Markdown table.

    bench/compare.py build/release/bin [--rounds 3] [--only forward] [--json FILE]

In every round each work is done once by attnscope and once by its peer; works that take half a minute are done once. Printed are medians
(least to most). peer ÷ attnscope is taken in each round: above 1, attnscope is faster. A work whose peer is not installed has no ratio; what
no other program does has no peer. --only with the words of a row repeats that row. Peers: python3-torch libopenblas0-pthread
python3-matplotlib python3-seaborn; run it with the system's python3. The window runs under Xvfb (xvfb).
"""
import argparse
import functools
import json
import os
import pathlib
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple

HERE = pathlib.Path(__file__).parent
WORDS = lambda n: " ".join(f"w{i}" for i in range(n))
FORWARD = [  # N, d, heads, how many times as fast as PyTorch on one thread and on two
    (8, 16, 1, (20, 20)), (8, 64, 8, (6, 6)), (32, 64, 8, (3, 3)), (128, 64, 8, (2, 2)),
    (128, 512, 8, (1, 1)), (512, 512, 8, (1, 1)), (1024, 512, 8, (1, 1)), (2048, 512, 8, (1.8, 2.4))]
EVALUATE = [(8, 16, 1), (64, 64, 8), (128, 512, 8), (512, 512, 8), (1024, 512, 8)]
DRAGGED = [(8, 16, 1), (64, 64, 8), (512, 512, 8), (2048, 64, 1)]
WATCHED = [(512, 512, 8), (2048, 512, 8)]
WINDOWS = [  # N, d, heads, changes, goal
    (8, 16, 1, 100, ("most", 1, "frames")), (128, 64, 8, 60, ("most", 1, "frames")), (512, 512, 8, 30, ("most", 2, "frames")),
    (2048, 64, 1, 15, ("most", 150, "ms")), (2048, 512, 8, 15, ("most", 150, "ms"))]
MODEL = ("--mechanism", "transformer", "--layers", "12", "--heads", "12", "--dim", "96")
ACTIONS = [  # a view, its action, changes, arguments
    ("typing, 8 tokens", "type", 100, ()),
    ("lines, 512 tokens", "lines", 30, ("--text", WORDS(512))),
    ("heads, 12 × 12 of 512 tokens, pointed at", "point-in-heads", 40, ("--text", WORDS(512), *MODEL)),
    ("comparison of 1024 tokens, pointed at", "point-in-comparison", 40, ("--text", WORDS(1024))),
    ("steps, 8 tokens", "steps", 100, ()),
    ("sweep, 8 tokens, pointed at", "sweep", 60, ())]
BOOK, OTHERS = "BOOK", "OTHERS"  # stand for the paths of texts of 131,072 words: those of a book, and each another one
IN_BOOK = ("--text-file", BOOK, "--dim", "64")
IN_OTHERS = ("--text-file", OTHERS, "--dim", "64")
REST_OF_NAME = r"(/min_time:[0-9.]+)?(/real_time)?"  # of a benchmark, behind its arguments


class Goal(NamedTuple):
    """How large attnscope's figure is at most or at least, or how many times as large the peer's is at least."""

    of: str  # most, least or times
    bound: float

    def text(self, unit):
        return {"most": f"≤ {self.bound:,g} {unit}", "least": f"≥ {self.bound:,g} {unit}", "times": f"≥ {self.bound:g} ×"}[self.of]

    def verdict(self, ours, ratio):
        if self.of == "times" and ratio is None:
            return "no peer"
        figure = ratio if self.of == "times" else ours
        if (figure <= self.bound) if self.of == "most" else (figure >= self.bound):
            return "reached"
        return f"missed by {abs(figure / self.bound - 1):.0%}"


class Work(NamedTuple):
    name: str  # its group, then what
    ours: tuple  # a function of this file and its arguments
    unit: str = "ms"
    goal: Goal = None
    peer: str = ""  # as it is printed; "": none
    theirs: tuple = ()  # the program of bench/peers, its arguments, and the line it is asked
    their_figure: int = 0  # of those that it answers
    once: bool = False  # takes half a minute


class Run:
    """One round of one build: what is measured once in it, though several works show it."""

    peers = {}  # the programs of bench/peers, each started once; they answer a line with numbers

    def __init__(self, programs):
        self.programs = programs

    @functools.cache
    def benchmarks(self, chosen):
        """Those of attnscope_bench whose names match, by name, in one process."""
        done = subprocess.run([self.programs / "attnscope_bench", f"--benchmark_filter=^{chosen}{REST_OF_NAME}$",
                               "--benchmark_format=json", "--benchmark_min_time=0.5"], capture_output=True, text=True, check=True)
        return {re.sub(REST_OF_NAME + "$", "", each["name"]): each for each in json.loads(done.stdout)["benchmarks"]}

    @functools.cache
    def window(self, action, frames, *arguments):
        done = subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24 -noreset", self.programs / "attnscope", "measure",
                               "--action", action, "--frames", str(frames), *in_files(arguments)], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    @functools.cache
    def command(self, *arguments):
        """Of a command that writes a picture: its most memory."""
        with tempfile.TemporaryDirectory() as folder:
            started = subprocess.Popen([self.programs / "attnscope", *in_files(arguments), "--out", folder], stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(started.pid, 0)
        if status != 0:
            raise SystemExit(f"attnscope {' '.join(arguments)}: failed")
        return {"memory_mb": used.ru_maxrss / 1024}

    def ask(self, program, *rest):
        *arguments, line = rest
        key = (program, *arguments)
        if key not in self.peers:
            self.peers[key] = subprocess.Popen([sys.executable, HERE / "peers" / program, *arguments], stdin=subprocess.PIPE,
                                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        peer = self.peers[key]
        if peer.poll() is not None:
            return None
        try:
            print(line, file=peer.stdin, flush=True)
        except BrokenPipeError:
            return None
        answer = peer.stdout.readline()
        return [float(each) for each in answer.split()] if answer else None

    answer = functools.cache(ask)


def words_of_book(count):
    """Words as often as in a book, by Zipf's law: of 20,000 the first twice as often as the second; some 9,100 occur."""
    words = [f"word{i}" for i in range(20000)]
    return " ".join(random.Random(1).choices(words, [1 / (i + 1) for i in range(len(words))], k=count))


TEXTS = {BOOK: words_of_book, OTHERS: WORDS}


@functools.cache
def text_file(text):
    file = tempfile.NamedTemporaryFile("w", suffix=".txt")  # until this program ends
    file.write(TEXTS[text](131072))
    file.flush()
    return file


def in_files(arguments):
    return [text_file(each).name if each in TEXTS else each for each in arguments]


def time_of(run, name, together=None):
    """The time of a benchmark of attnscope_bench, ms, that runs alone or with all that match `together`."""
    found = run.benchmarks(together or re.escape(name))[name]
    return found["real_time"] * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[found["time_unit"]]


def megabytes_of(run, name):
    return run.benchmarks(re.escape(name))[name]["bytes"] / 1e6


def figure_of(run, what, figure, *arguments):
    """A figure of `attnscope measure` (what: window) or of a command."""
    return getattr(run, what)(*arguments)[figure]


def forward_name(n, d, heads, threads):
    return f"forward/N:{n}/d:{d}/heads:{heads}/threads:{threads}"


def operations(n, d):
    return 8 * n * d * d + 4 * n * n * d


def share_of_best(run, n, d, heads, threads):
    """Operations per second, in percent of the best of three beside it: the products of 1536 × 1536 matrices of PyTorch's library and of
    ours, and this pass itself; None without PyTorch."""
    ours = operations(n, d) / time_of(run, forward_name(n, d, heads, threads))
    product = run.ask("torch_peer.py", str(threads), "product 1536")
    if not product:
        return None
    products = [2 * 1536**3 / each for each in (product[0], time_of(run, f"best_product/threads:{threads}"))]
    return 100 * ours / max(ours, *products)


def cost(run, small, large, threads):
    """What an operation costs at a large size, a multiple of what it does at a small one."""
    per_operation = [time_of(run, forward_name(n, 512, 8, threads)) / operations(n, 512) for n in (small, large)]
    return per_operation[1] / per_operation[0]


def cost_of_pairs(run, small, large):
    """What a pair of the overview of a book costs at a large size, a multiple of what it does at a small one."""
    per_pair = [time_of(run, survey_name(n)) / n**2 for n in (small, large)]
    return per_pair[1] / per_pair[0]


def survey_name(n):
    return f"survey_of_book/N:{n}/causal:0/iterations:1"


def works():
    for threads in (1, 2):
        for n, d, heads, times in FORWARD:
            row = f"forward {n} × {d}, heads {heads}, threads {threads}"
            yield Work(row, (time_of, forward_name(n, d, heads, threads)), "ms", Goal("times", times[threads - 1]),
                       "PyTorch", ("torch_peer.py", str(threads), f"forward {n} {d} {heads}"))
            if d == 512:
                yield Work(f"{row}: of the best product", (share_of_best, n, d, heads, threads), "%", Goal("least", 80))
        yield Work(f"forward, an operation at N 4096 ÷ at 512, threads {threads}", (cost, 512, 4096, threads), "×", Goal("most", 1.15))
    for name, sizes in (("evaluate", EVALUATE), ("evaluate_seed_drag", DRAGGED), ("evaluate_watched", WATCHED)):
        for n, d, heads in sizes:
            yield Work(f"{name} {n} × {d}, heads {heads}", (time_of, f"{name}/N:{n}/d:{d}/heads:{heads}"))
    for figure, unit, bound in (("first_frame_ms", "ms", 150), ("resident_mb", "MiB", 100), ("cpu_percent", "%", 0.01)):
        name = {"first_frame_ms": "first frame", "resident_mb": "memory", "cpu_percent": "of a core while idle"}[figure]
        yield Work(f"window, default example: {name}", (figure_of, "window", figure, "idle", 3600), unit, Goal("most", bound))
    for n, d, heads, changes, goal in WINDOWS:
        session = ("--dim", str(d), "--heads", str(heads), *(("--text", WORDS(n)) if n > 8 else ()))
        for view in ("pipeline", "heads", "lines"):
            for figure, unit in (("change_to_picture_ms", "ms"), ("frames_to_picture", "frames")):
                yield Work(f"window {n} × {d}, heads {heads}, {view}: dragged seed to picture, {unit}",
                           (figure_of, "window", figure, "drag-seed", changes, "--view", view, *session), unit,
                           Goal(*goal[:2]) if goal[2] == unit else None)
    for name, action, changes, arguments in ACTIONS:
        for figure, what, goal in (("longest_cpu_ms", "our own work in the longest frame", Goal("most", 8)), ("change_to_picture_ms", "change to picture", None)):
            yield Work(f"window, {name}: {what}", (figure_of, "window", figure, action, changes, *arguments), "ms", goal)
    for n, peer, line, goal in ((4096, "matplotlib imsave, bare", "imsave 4096", Goal("times", 10)),
                                (1024, "matplotlib imshow + savefig", "savefig 1024", Goal("times", 10)),
                                (1024, "seaborn heatmap", "heatmap 1024", None)):
        row, name = f"export {n} × {n} cells, labeled, beside {peer.split()[0]}", f"heatmap_png/N:{n}/cell:1"
        yield Work(row, (time_of, name), "ms", goal, peer, ("plot_peer.py", line))
        yield Work(f"{row}: size", (megabytes_of, name), "MB", goal and Goal("times", 1), peer, ("plot_peer.py", line), 1)
    yield Work("book: preview", (time_of, "preview_of_book/N:131072"), "ms", Goal("most", 1000))
    for surveyed in (0, 1):
        yield Work(f"book: sample of the context, overview {'known' if surveyed else 'not known'}", (time_of, f"sample_of_book/N:131072/surveyed:{surveyed}"))
    yield Work("book: overview", (time_of, survey_name(131072)), "ms", Goal("most", 20000),
               "PyTorch, row sums alone", ("torch_peer.py", "2", "survey 131072 64"), once=True)
    yield Work("book: overview, a pair at N 131072 ÷ at 32768", (cost_of_pairs, 32768, 131072), "×", Goal("most", 1.15), once=True)
    for text, arguments in (("the window", IN_BOOK), ("the window, all words different", IN_OTHERS)):
        for figure, bound in (("preview", 1000), ("progress", 1000), ("overview", 20000)):
            yield Work(f"book: start to {figure} in {text}", (figure_of, "window", f"{figure}_ms", "overview", 1, *arguments), "ms",
                       Goal("most", bound))
    yield Work("book: memory of the window, 8 heads, after the overview", (figure_of, "window", "resident_mb", "overview", 1, *IN_BOOK, "--heads", "8"),
               "MiB", Goal("most", 2000), once=True)
    yield Work("book: most memory of pictures of 8 heads, causal",
               (figure_of, "command", "memory_mb", "render", *IN_BOOK, "--heads", "8", "--head", "all", "--mask", "causal", "--stage", "weights", "--format", "png"),
               "MiB", Goal("most", 2000), once=True)
    # One process for all of them, as each needs the overview.
    for shown in ("weights_strongest", "weights_mean", "scores_strongest", "scores_mean"):
        for level in (0, 4):
            yield Work(f"book: a screen of {shown.replace('_', ', ')}, {2**level} pair{'s' * (level > 0)} a side",
                       (time_of, f"screen_of_book/{shown}/N:131072/level:{level}", "screen_of_book/.*level:[04]"), "ms", Goal("most", 150))
    for action in ("zoom", "pan"):
        for figure, what in (("change_to_picture_ms", "change to picture"), ("longest_change_to_picture_ms", "longest change to picture")):
            yield Work(f"book: {action} in the window, {what}", (figure_of, "window", figure, action, 80, *IN_BOOK), "ms", Goal("most", 150))
    for task in ("induction", "translate"):
        yield Work(f"training {task}: a step, threads 1", (time_of, f"step/{task}/1"), "ms", None, "PyTorch", ("torch_peer.py", "1", f"step {task}"))


def machine():
    """The processor, its cores and its widest vectors."""
    info = pathlib.Path("/proc/cpuinfo").read_text()
    found = {name: re.search(rf"^{name}\s*: (.*)", info, re.MULTILINE) for name in ("model name", "cpu family", "model", "flags")}
    flags = found["flags"][1].split() if found["flags"] else []
    widest = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags), "SSE2")
    named = f"{found['model name'][1]} (family {found['cpu family'][1]}, model {found['model'][1]})" if all(found.values()) else platform.machine()
    return f"{named}, {len(os.sched_getaffinity(0))} cores, {widest}, load {os.getloadavg()[0]:.1f}"


def spread(values):
    middle, least, most = (f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" for value in (statistics.median(values), min(values), max(values)))
    return middle if least == most else f"{middle} ({least}–{most})"


def row(work, ours, theirs):
    if None in ours:
        return f"| {work.name} | | PyTorch is not installed | | {work.goal.text(work.unit)} | |"
    ratios = [] if None in theirs else [their / our for our, their in zip(ours, theirs)]
    ratio = statistics.median(ratios) if ratios else None
    cells = [work.name, f"{spread(ours)} {work.unit}", "", "", "", ""]
    if work.peer:
        cells[2:4] = [f"{work.peer}: {spread(theirs)} {work.unit}", spread(ratios)] if ratios else [f"{work.peer} is not installed", ""]
    if work.goal:
        cells[4:] = [work.goal.text(work.unit), work.goal.verdict(statistics.median(ours), ratio)]
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="the folder with attnscope and attnscope_bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="works whose name begins with this")
    parser.add_argument("--json", type=pathlib.Path, help="write every figure to this file, too")
    asked = parser.parse_args()
    chosen = [work for work in works() if work.name.startswith(asked.only)]
    if not chosen:
        parser.error(f"no work begins with “{asked.only}”")
    print(f"{machine()}; {asked.rounds} rounds\n")
    print("| work | attnscope | peer | peer ÷ attnscope | goal | |\n|---|---:|---|---:|---:|---|", flush=True)
    runs = [Run(asked.programs) for _ in range(asked.rounds)]
    kept = []
    for work in chosen:
        function, *arguments = work.ours
        ours, theirs = [], []
        for run in runs[:1] if work.once else runs:
            ours.append(function(run, *arguments))
            answer = run.answer(*work.theirs) if work.theirs else None
            theirs.append(answer and answer[work.their_figure])
        print(row(work, ours, theirs), flush=True)
        kept.append({"work": work.name, "unit": work.unit, "peer": work.peer, "ours": ours, "theirs": theirs})
    if asked.json:
        asked.json.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
