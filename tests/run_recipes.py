# Runs PyTorch scripts one after the other in one Python: run_recipes.py FILE… prints the --json of each as a line.
import contextlib
import io
import sys

import torch

for path in sys.argv[1:]:
    sys.argv = [path, "--json"]
    torch.set_grad_enabled(True)  # as in a new Python, whatever the script before has set
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(open(path, encoding="utf-8").read(), path, "exec"), {"__name__": "__main__"})
    print(printed.getvalue().strip())
