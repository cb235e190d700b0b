"""`bmsql bench build`: questions from templates, written to a file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from bmsql.agent import fitted, open_model, open_named_backend, open_rules
from bmsql.bench import threshold_columns, write_questions
from bmsql.bench.factory import build_questions, load_templates, shipped_templates
from bmsql.cli import _bench_built
from bmsql.cli._console import write_json
from bmsql.cli._main import ANSWERED

if TYPE_CHECKING:
    from bmsql.agent import Settings
    from bmsql.bench import Split


def build_file(
    settings: Settings,
    out: Path,
    *,
    n: int,
    seed: int,
    split: Split,
    templates: Sequence[Path] | None,
    as_json: bool,
) -> int:
    """Build `n` questions, write them to `out`, and show what they are."""
    book = load_templates(templates) if templates else shipped_templates()
    started = time.perf_counter()
    with closing(open_named_backend(settings)) as opened:
        model = fitted(open_model(settings), opened.catalog())
        with _bench_built.progress(n) as advance:
            built = build_questions(
                opened,
                model,
                book,
                n=n,
                seed=seed,
                profile="biomedsql" if settings.profile == "biomedsql" else "strict",
                split=split,
                limits=settings.limits,
                logical=threshold_columns(model, open_rules(settings)),
                progress=advance,
            )
    part = out.with_name(f".{out.stem}.part{out.suffix}")
    # A file that is there is whole: an interrupted run leaves none, or the one before.
    write_questions(part, built.questions)
    part.replace(out)
    document = {"file": str(out), "seconds": round(time.perf_counter() - started, 1), **_bench_built.summary(built)}
    if as_json:
        write_json(document)
    else:
        _bench_built.show(document)
    return ANSWERED
