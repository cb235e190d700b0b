"""Start-up: `import bmsql`, `bmsql --help`, and a second `bmsql ask`, with our share of it.

Each figure is the best of several fresh processes. Our share of `bmsql ask` is what remains when all
modules that it loads have been imported before: opening the knowledge base, planning, queries, the answer, printing.

python benchmarks/bench_start.py [--repeat N]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time

QUESTION = "Which SNPs near BIN1 are significantly associated with Alzheimer's disease?"

# Asks, and tells which modules were loaded by then.
ASK_AND_LIST = """
import contextlib, io, json, sys
from bmsql.cli import run
with contextlib.redirect_stdout(io.StringIO()):
    code = run(["ask", sys.argv[1]])
assert code == 0, code
print(json.dumps([name for name in sys.modules if name != "__main__"]))
"""

# Imports these first, then asks; prints the seconds of both.
IMPORT_THEN_ASK = """
import contextlib, importlib, io, json, sys, time
names = json.load(sys.stdin)
started = time.perf_counter()
for name in names:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
imported = time.perf_counter()
from bmsql.cli import run
with contextlib.redirect_stdout(io.StringIO()):
    code = run(["ask", sys.argv[1]])
asked = time.perf_counter()
assert code == 0, code
print(json.dumps([imported - started, asked - imported]))
"""

IMPORT = "import time; started = time.perf_counter(); import bmsql; print(time.perf_counter() - started)"


def output(*arguments: str, given: str = "") -> str:
    """What a fresh Python process prints."""
    return subprocess.run([sys.executable, *arguments], input=given, capture_output=True, text=True, check=True).stdout


def wall(*arguments: str) -> float:
    """Seconds that a fresh Python process takes."""
    started = time.perf_counter()
    output(*arguments)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeat", type=int, default=3, help="processes per figure; the best one counts")
    times = range(max(1, parser.parse_args().repeat))

    modules = output("-c", ASK_AND_LIST, QUESTION)  # also the first call, which builds what is missing
    bare = min(wall("-c", "pass") for _ in times)
    imported = min(float(output("-c", IMPORT)) for _ in times)
    helped = min(wall("-m", "bmsql", "--help") for _ in times)
    asked = min(wall("-m", "bmsql", "ask", QUESTION) for _ in times)
    shares = [json.loads(output("-c", IMPORT_THEN_ASK, QUESTION, given=modules)) for _ in times]
    imports, ours = (min(column) for column in zip(*shares, strict=True))

    print("seconds, best of fresh processes")
    print(f"python alone            {bare:.2f}")
    print(f"import bmsql            {imported:.3f}")
    print(f"bmsql --help            {helped:.2f}")
    print(f"second bmsql ask        {asked:.2f}, of which imports {imports:.2f} and ours {ours:.2f}")


if __name__ == "__main__":
    main()
