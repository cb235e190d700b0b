"""Wrong template files end in one clear error; the command writes what the readers read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from bmsql.backends import Backend
from bmsql.bench import read_questions
from bmsql.bench.factory import build_questions, load_templates
from bmsql.cli._main import run
from bmsql.errors import ConfigurationError
from bmsql.semantic import SemanticModel
from tests.yaml_files import read_yaml

# Each case builds questions.
pytestmark = pytest.mark.all

WRONG: list[dict[str, Any]] = read_yaml(Path(__file__).parent / "wrong.yaml")


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case["says"])
def test_a_wrong_template_is_named_with_what_is_wrong(
    case: dict[str, Any], tmp_path: Path, backend: Backend, model: SemanticModel
) -> None:
    file = tmp_path / "templates.yaml"
    file.write_text(yaml.safe_dump({"format": 1, "model": "biomedsql", "templates": case["templates"]}))
    with pytest.raises(ConfigurationError) as error:
        build_questions(backend, model, load_templates([file]), n=2)
    assert case["says"] in str(error.value)
    if not case.get("built"):
        assert str(file) in str(error.value)


@pytest.mark.parametrize(("text", "says"), [("a: [", "no YAML"), ("- 1", "a mapping"), ("model: x", "templates")])
def test_what_is_no_template_file(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "templates.yaml"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=says):
        load_templates([file])
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_templates([tmp_path / "none.yaml"])


@pytest.mark.all
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_the_command_writes_what_the_readers_read(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"questions.{suffix}"
    assert run(["bench", "build", "--out", str(out), "--n", "6", "--seed", "2", "--split", "train", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    questions = list(read_questions(out))
    assert document["questions"] == len(questions) == 6
    assert document["splits"] == {"train": 6}
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_an_unknown_split_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "build", "--out", str(tmp_path / "q.jsonl"), "--split", "none"]) == 2
    assert "'train', 'dev', 'test'" in capsys.readouterr().err
