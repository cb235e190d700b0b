"""Ask the questions of YAML files and score the answers against gold: `score_questions.py FILE...`.

Without a file, all of `tests/data`. Prints, for each file, how many were right, wrong and abstained from,
and what was not right; `-q` leaves the failures out. See `tests/offline/scoring.py` for the format.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.offline.embedded import embedded_scorer  # noqa: E402
from tests.offline.scoring import load  # noqa: E402

DATA = ROOT / "tests" / "data"


def main() -> None:
    parser = argparse.ArgumentParser(description="Score the answers of the default agent against gold.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("-q", "--quiet", action="store_true", help="leave the failures out")
    options = parser.parse_args()
    files = options.files or [DATA / "questions_dev.yaml", *sorted((DATA / "questions").glob("*.yaml"))]
    scorer = embedded_scorer()
    for path in files:
        score = scorer.score(path.stem, load(path))
        if not options.quiet and score.failures():
            print(score.failures())
        print(score.summary(), flush=True)


if __name__ == "__main__":
    main()
