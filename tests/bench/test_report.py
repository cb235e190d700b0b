"""Reports: what they say, that nothing in them is taken for markup, and that a browser shows them."""

from __future__ import annotations

import html.parser
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmsql.bench import Gold, Journal, Manifest, Question, Ran, Record, RunFolder, score_run
from bmsql.bench._judge import Judgement
from bmsql.bench.report import collect, html_report, markdown_report, write_report
from bmsql.bench.report._markdown import escaped
from bmsql.bench.report._markup import Markup, element
from bmsql.bench.report._published import published
from bmsql.errors import BenchmarkFileError, ConfigurationError
from bmsql.types import StepUsage, Usage
from tests.yaml_files import read_yaml

HOSTILE = '<script>alert(1)</script> & "quotes" | pipes | ``` fences ``` </style> <img src=x onerror=alert(1)> ü'
KINDS = ("implicit_conventions", "missing_context", "multi_hop")


def question(number: int) -> Question:
    return Question(
        id=f"q{number}",
        question=f"Question {number}? {HOSTILE}",
        key="UUID",
        gold_sql=f"SELECT UUID FROM t WHERE p < 5e-8 AND note = '''{HOSTILE}'''",
        expected=Gold(columns=("UUID",), rows=((HOSTILE,), (f"key {number}",))),
        sql_categories=("select", "threshold", "multi_filter"),
        bio_categories=(KINDS[number % 3],),  # type: ignore[arg-type]
        template=f"T{number % 2}",
    )


def record(number: int, system: str, right: int) -> Record:
    gold = question(number).expected
    assert gold is not None
    rows = gold.rows if number < right else gold.rows[:1]
    sql = question(number).gold_sql if number < right else f"SELECT UUID FROM t WHERE p < 1e-5 -- {HOSTILE}"
    step = StepUsage(step="draft", calls=1, prompt_tokens=1000 + number, completion_tokens=10)
    return Record(
        question_id=f"q{number}",
        system=system,
        model="model",
        sql=sql,
        result=Ran(sql=sql, columns=("UUID",), rows=rows),
        text=HOSTILE,
        usage=Usage(steps=(step,), queries=1, seconds=float(number)),
        cost=0.001 * number,
    )


def run(
    path: Path,
    system: str,
    right: int,
    *,
    count: int = 12,
    without: Sequence[str] = (),
    tables: int = 10,
    judged: bool = False,
) -> RunFolder:
    """A run of which the first `right` questions are answered rightly."""
    folder = RunFolder(path)
    path.mkdir(parents=True)
    settings: dict[str, Any] = {
        "system": {"without": list(without)},
        "tables": tables,
        "fingerprint": f"{tables} tables",
        "questions": {"file": "q.jsonl", "hash": "abc", "seed": 0},
        "threshold_columns": ["p"],
    }
    manifest = Manifest(run=path.name, system=system, model="model", settings=settings, questions=count)
    folder.manifest_file.write_text(manifest.model_dump_json(), encoding="utf-8")
    with Journal(folder.questions_file) as questions, Journal(folder.records_file) as records:
        for number in range(count):
            questions.append(question(number))
            records.append(record(number, system, right))
    if judged:
        with Journal(folder.judgements_file) as judgements:
            for number in range(count):
                judgements.append(Judgement(question_id=f"q{number}", score=3.0 if number < right else 1.0, by="j"))
    score_run(folder)
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> list[RunFolder]:
    return [
        run(tmp_path / "whole", "ours", 9, judged=True),
        run(tmp_path / "reduced", "ours, no conventions", 6, without=["conventions"]),
        run(tmp_path / "twenty", "ours", 8, tables=20),
        run(tmp_path / "other", HOSTILE, 3),
    ]


def test_what_is_collected(runs: list[RunFolder]) -> None:
    report = collect(runs, failures=2, grades={"q0": [3.0], "q11": [1.0]})
    whole, reduced, twenty, other = report.runs
    assert [run.label for run in report.runs[:3]] == [
        "ours (model), whole",
        "ours, no conventions (model)",
        "ours (model), twenty",
    ]
    assert (whole.failed_count, [failed.question_id for failed in whole.failed]) == (3, ["q9", "q10"])
    assert [slow.question_id for slow in whole.slowest][:2] == ["q11", "q10"]
    assert [dear.cost for dear in whole.costliest][:2] == pytest.approx([0.011, 0.010])
    assert whole.human is not None
    assert (whole.human.n, whole.human.same_verdict.value) == (2, 1.0)
    failed = whole.failed[0]
    assert failed.kinds == ("threshold_wrong",)
    assert failed.members is not None
    assert (failed.members.missing, failed.members.surplus_count) == (("key 9",), 0)
    edits = failed.edits or ()
    assert "5e-8" in {edit.gold for edit in edits}
    assert "1e-5" in {edit.found for edit in edits}
    [ablation] = report.ablation
    assert (ablation.label, ablation.base) == (reduced.label, whole.label)
    # Three of twelve questions are lost: -0.25, the deviations 3 * 0.5625 + 9 * 0.0625 over 11 and 12.
    assert ablation.delta.value == pytest.approx(-0.25)
    assert ablation.delta.margin == pytest.approx(1.96 * (2.25 / 11 / 12) ** 0.5)
    [(few, many, larger)] = report.larger
    assert (few, many, larger.label) == (10, 20, twenty.label)
    assert larger.delta.value == pytest.approx(-1 / 12)
    assert other.summary.v_ex is None
    assert whole.summary.v_ex == pytest.approx(1.0)


def test_reports_need_scored_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no run to report on"):
        collect([])
    with pytest.raises(BenchmarkFileError, match="no folder of a run"):
        collect([RunFolder(tmp_path)])
    folder = run(tmp_path / "run", "ours", 1)
    folder.scores_file.unlink()
    with pytest.raises(BenchmarkFileError, match="this run was not scored"):
        collect([folder])


class Outline(html.parser.HTMLParser):
    """What an HTML parser makes of a page: elements, texts, and elements that were not closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    found.close()
    assert found.open == []
    return found


def test_the_page_is_whole_and_loads_nothing(runs: list[RunFolder]) -> None:
    page = html_report(collect(runs))
    found = outline(page)
    names = {name for name, _ in found.elements}
    assert not names & {"script", "img", "link", "iframe", "object", "embed", "form"}
    for name, attributes in found.elements:
        assert not any(key.startswith("on") or key in {"src", "srcset"} for key in attributes), (name, attributes)
        assert name != "a" or str(attributes["href"]).startswith("#")
    assert "url(" not in page
    assert "@import" not in page


def test_the_page_can_be_read_by_machines_for_people(runs: list[RunFolder]) -> None:
    found = outline(html_report(collect(runs)))
    count = [name for name, _ in found.elements].count
    assert found.elements[0] == ("html", {"lang": "en"})
    assert (count("h1"), count("main"), count("title") > 1) == (1, 1, True)
    assert count("caption") == count("table") > 10
    assert all("scope" in attributes for name, attributes in found.elements if name == "th")
    for name, attributes in found.elements:
        if name == "svg":
            assert (attributes["role"], bool(attributes["aria-label"])) == ("img", True)
    identifiers = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    assert {attributes["href"] for name, attributes in found.elements if name == "a"} == {f"#{i}" for i in identifiers}


def test_whatever_stands_in_a_run_is_shown_as_text(runs: list[RunFolder]) -> None:
    report = collect(runs)
    page, text = html_report(report), markdown_report(report)
    assert HOSTILE in "".join(outline(page).texts)
    assert "<script" not in page
    assert "<img" not in page
    outside = re.sub(r"^(`{3,})sql\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert "<script" not in outside
    assert "```" not in outside
    rows = [line for line in outside.splitlines() if line.startswith("| ")]
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in rows if HOSTILE[:4] in line or "script" in line}
    assert widths
    assert max(widths) <= 9


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=60))
def test_texts_are_escaped_in_both_forms(text: str) -> None:
    parsed = Outline()
    parsed.feed(element("p", text, title=text))
    parsed.close()
    assert [name for name, _ in parsed.elements] == ["p"]
    line = escaped(text)
    assert "\n" not in line
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_\[\]]", line)
    assert "<" not in line
    assert element("p", Markup("<b>x</b>")) == "<p><b>x</b></p>"


def test_both_files_hold_the_figures(runs: list[RunFolder], tmp_path: Path) -> None:
    markdown, page = write_report(collect(runs), tmp_path / "new" / "report")
    for text in (markdown.read_text(encoding="utf-8"), "".join(outline(page.read_text(encoding="utf-8")).texts)):
        assert "75.0 ± 25.6" in text  # nine of twelve: 1.96 * sqrt(0.75 * 0.25 / 11)
        assert "−25.0 ± 25.6" in text
        assert "arXiv:2505.20321" in text
        assert "Not measured here" in text
    with pytest.raises(BenchmarkFileError, match="cannot be written"):
        write_report(collect(runs), markdown)


def test_published_figures_are_those_of_the_paper() -> None:
    given = published()
    best = {(one.system, one.model): one for one in given.systems}
    agent = best["BMSQL, 1 pass", "GPT-o3-mini"]
    assert (agent.ex, agent.jac, agent.rqr, agent.sr, agent.ser, agent.tokens) == (62.6, 69.2, 83.1, 38.0, 2.6, 39470)
    assert (best["Domain experts", ""].ex, best["DAIL-SQL", "GPT-o3-mini"].tokens) == (90.0, 1318)
    assert (given.sample, len(given.systems)) == (546, 26)


CHECK = """
<script>
addEventListener("error", event => document.title += " ERROR " + event.message);
addEventListener("securitypolicyviolation", event => document.title += " BLOCKED " + event.blockedURI);
addEventListener("load", () => {
  const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
  const flat = [...document.querySelectorAll("svg")].filter(svg => svg.getBoundingClientRect().height < 50).length;
  const tables = document.querySelectorAll("table").length;
  document.title = `checked tables=${tables} wide=${wide} flat=${flat}` + document.title;
});
</script>
"""


def browser() -> str:
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
    )
    if not found and os.environ.get("CI") != "true":
        pytest.skip("no Chromium is installed")
    assert found, "no Chromium is installed: .ci/run installs it"
    return found


@pytest.mark.all
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_browser_shows_the_page_without_complaint(runs: list[RunFolder], tmp_path: Path, dark: bool) -> None:
    """The page as written logs nothing; a copy with a script in it is measured from within."""
    _, page = write_report(collect(runs), tmp_path / "report")
    base = [browser(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    base += ["--window-size=1000,800", "--enable-logging=stderr", "--v=0", "--dump-dom"]
    base += ["--blink-settings=preferredColorScheme=0"] if dark else []
    shown = subprocess.run([*base, page.as_uri()], capture_output=True, text=True, timeout=120)
    assert shown.returncode == 0, shown.stderr
    assert "CONSOLE" not in shown.stderr
    assert len(outline(shown.stdout).elements) == len(outline(page.read_text(encoding="utf-8")).elements)
    measured = page.with_name("measured.html")
    source = page.read_text(encoding="utf-8").replace("style-src", "script-src 'unsafe-inline'; style-src")
    measured.write_text(source.replace("</head>", f"{CHECK}</head>"), encoding="utf-8")
    found = subprocess.run([*base, measured.as_uri()], capture_output=True, text=True, timeout=120)
    title = re.search(r"<title>(.*?)</title>", found.stdout)
    assert title is not None
    tables = source.count("<table>")
    assert title[1].startswith(f"checked tables={tables} wide=false flat=0"), title[1]
    assert "ERROR" not in title[1]
    assert "BLOCKED" not in title[1]


def test_notes_are_all_used() -> None:
    source = "".join(
        path.read_text(encoding="utf-8") for path in Path(collect.__code__.co_filename).parent.glob("_*.py")
    )
    notes = read_yaml(Path(collect.__code__.co_filename).parents[1] / "data" / "report.yaml")
    for name in notes["notes"]:
        assert f'notes["{name}"]' in source or f"notes['{name}']" in source


def test_runs_that_cannot_be_compared_are_told(tmp_path: Path) -> None:
    first, second = run(tmp_path / "a", "ours", 3), run(tmp_path / "b", "theirs", 3)
    assert "did not all ask the same" not in markdown_report(collect([first, second]))
    more = run(tmp_path / "c", "third", 3, tables=20)
    manifest = more.manifest().model_copy(update={"questions": 13})
    more.manifest_file.write_text(manifest.model_dump_json(), encoding="utf-8")
    text = markdown_report(collect([first, more]))
    assert "did not all ask the same" in text
    assert "Not finished, so that their figures may change: third (model)." in text
