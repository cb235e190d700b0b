"""The examples and the benchmarks run as a reader would run them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bmsql import Agent
from bmsql.backends import open_embedded
from tests.servers.bigquery import FakeBigQuery

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
BENCHMARKS = sorted((ROOT / "benchmarks").glob("bench_*.py"))


def run(*arguments: str, folder: Path) -> str:
    """What a fresh Python process prints, started in a folder that is not the checkout."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    # LangGraph looks up the annotations of a state type in its module.
    sys.modules[path.stem] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def test_every_example_is_run_here_and_listed() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    found = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.py")}
    assert found == {"bigquery_costs.py", "embed_in_langgraph.py", "own_database/ask.py"}
    assert NOTEBOOKS
    for path in (*found, *(path.name for path in NOTEBOOKS)):
        assert f"({path})" in listed


def test_the_agent_is_a_subgraph_of_another_pipeline(tmp_path: Path) -> None:
    printed = run(str(EXAMPLES / "embed_in_langgraph.py"), "BIN1", folder=tmp_path)
    assert "Strongest SNP: rs6733839" in printed
    assert "Threshold: p < 5e-8" in printed
    assert "Evidence: AD_combo_gene_notext_UUID_308" in printed


def test_the_outer_pipeline_stores_the_answer_and_handles_an_abstention() -> None:
    example = module(EXAMPLES / "embed_in_langgraph.py")
    with Agent() as agent:
        pipeline = example.build(agent)
        answered, declined = ({"configurable": {"thread_id": name}} for name in ("CR1", "none"))
        pipeline.invoke({"gene": "CR1"}, answered)
        values = pipeline.get_state(answered).values
        assert values["question"] == values["answer"]["question"]
        assert values["report"].startswith("Gene: CR1\nAnswer: ")
        pipeline.invoke({"gene": "NOTAGENE1"}, declined)
        assert pipeline.get_state(declined).values["report"].startswith("Gene: NOTAGENE1\nNot answered: ")


def test_a_database_of_ones_own(tmp_path: Path) -> None:
    printed = run(str(EXAMPLES / "own_database" / "ask.py"), folder=tmp_path)
    assert "Vactosertib" in printed
    assert "[active, applied: ic50 < 100]" in printed
    assert "[active, complement: ic50 >= 100]" in printed
    assert "I cannot answer this" in printed


@pytest.mark.all
def test_costs_on_bigquery(tmp_path: Path) -> None:
    """Against a loopback BigQuery that holds the embedded knowledge base."""
    with open_embedded() as embedded, FakeBigQuery() as server:
        server.data.attach("biomedsql", str(embedded.path))
        url = f"bigquery://lab-project/biomedsql?endpoint={server.url}"
        question = "Which SNPs near BIN1 are significantly associated with Alzheimer's disease?"
        printed = run(str(EXAMPLES / "bigquery_costs.py"), url, question, folder=tmp_path)
        assert {job.labels["team"] for job in server.jobs.values() if "question_id" in job.labels} == {"example"}
    assert "9 SNPs near BIN1" in printed
    assert "billed: 30 MiB ($0.000179)" in printed
    assert "in all, with the index of stored values: " in printed


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_stored_with_outputs_and_without_errors(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in cells)
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    assert any("text/html" in output.get("data", {}) for output in outputs)


@pytest.mark.all
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_give_what_they_show(path: Path, tmp_path: Path) -> None:
    run(str(ROOT / "scripts" / "run_notebooks.py"), "--check", str(path), folder=tmp_path)


# Each with options for a small run, where there are any, and what it must print.
SMALL: dict[str, tuple[list[str], str]] = {
    "bench_check": ([], "median"),
    "bench_fewshot": (["--files", str(ROOT / "tests" / "data" / "questions" / "heldout_one.yaml")], "median"),
    "bench_linking": ([], "median"),
    "bench_mutations": (["--per-damage", "1"], "threshold"),
    "bench_offline": (["--n", "60"], "abstained"),
    "bench_overhead": (["--questions", "20", "--concurrency", "4"], "cpu_ms"),
    "bench_prompts": ([], "recall"),
    "bench_question": ([], "median"),
    "bench_scale": (["--rows", "20000"], "synthetic rows"),
    "bench_scoring": (["--records", "2000"], "sum up"),
    "bench_start": ([], "second bmsql ask"),
    "bench_systems": (["--count", "3", "--gold-only"], "dail-sql"),
}


@pytest.mark.all
@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.name)
def test_benchmarks_run(path: Path, tmp_path: Path) -> None:
    few, wanted = SMALL[path.stem]
    assert wanted in run(str(path), "--repeat", "1", *few, folder=tmp_path)
