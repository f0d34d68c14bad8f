#!/usr/bin/env python3
"""What a frame of the window costs, action by action: `attnscope measure` under Xvfb, as rows of a table.

    bench/window.py build/release/bin/attnscope [--rounds 3]

Medians of all rounds; the actions of a round follow one another, so that a noisy machine disturbs all alike.
"""
import argparse, json, statistics, subprocess

WORDS = lambda n: " ".join("w%d" % i for i in range(n))
MODEL = ["--mechanism", "transformer", "--layers", "12", "--heads", "12", "--dim", "96"]
ROWS = [  # name, tokens, frames, arguments
    ("idle", 8, 200, ["--action", "idle"]),
    ("drag-seed", 8, 100, ["--action", "drag-seed"]),
    ("drag-seed, 8 heads, d 512", 512, 30, ["--action", "drag-seed", "--text", WORDS(512), "--heads", "8", "--dim", "512"]),
    ("drag-seed, 1 head, d 64", 2048, 15, ["--action", "drag-seed", "--text", WORDS(2048), "--dim", "64"]),
    ("type", 8, 100, ["--action", "type"]),
    ("lines, 1 head", 512, 30, ["--action", "lines", "--text", WORDS(512)]),
    ("point-in-heads, 12 × 12", 512, 40, ["--action", "point-in-heads", "--text", WORDS(512)] + MODEL),
    ("point-in-comparison", 1024, 40, ["--action", "point-in-comparison", "--text", WORDS(1024)]),
    ("steps", 8, 100, ["--action", "steps"]),
    ("sweep", 8, 60, ["--action", "sweep"]),
]

COLUMNS = ["first_frame_ms", "frame_ms", "mean_frame_ms", "longest_frame_ms", "longest_cpu_ms", "change_to_picture_ms", "resident_mb"]


def measure(program, arguments, frames):
    command = ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24", program, "measure", "--frames", str(frames)] + arguments
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(" ".join(command[5:9]) + ": " + done.stderr.strip())
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--raw", action="store_true", help="print what measure says")
    asked = parser.parse_args()
    rows = [row for row in ROWS if asked.only in row[0]]
    found = {row[0]: [] for row in rows}
    for _ in range(asked.rounds):
        for name, _, frames, arguments in rows:
            found[name].append(measure(asked.program, arguments, frames))
    if asked.raw:
        return print(json.dumps(found, indent=1))
    print("| action | tokens | first frame, ms | frame, ms | mean, ms | longest, ms | processor, longest, ms | change to picture, ms | memory, MiB |")
    print("|---|---:" + "|---:" * len(COLUMNS) + "|")
    for name, tokens, _, _ in rows:
        def median(key):
            values = [each[key] for each in found[name] if each.get(key) is not None]
            return "%.3g" % statistics.median(values) if values else ""
        print("| %s | %d | %s |" % (name, tokens, " | ".join(median(key) for key in COLUMNS)))


if __name__ == "__main__":
    main()
