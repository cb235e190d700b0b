"""Names and synonyms in the package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from bmsql.data import _aliases, aliases
from bmsql.errors import ConfigurationError, KnowledgeBaseError

_SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "pack_aliases.py"


def test_genes() -> None:
    genes = aliases("genes")
    assert list(genes) == ["symbol", "name", "ensembl", "aliases", "previous", "locus_type"]
    assert {len(column) for column in genes.values()} == {25_150}
    row = {name: column[genes["symbol"].index("BIN1")] for name, column in genes.items()}
    assert row["ensembl"] == "ENSG00000136717"
    assert "AMPH2" in row["aliases"].split("|") + row["previous"].split("|")


def test_diseases() -> None:
    diseases = aliases("diseases")
    assert list(diseases) == ["mondo", "name", "synonyms", "efo", "mesh"]
    assert {len(column) for column in diseases.values()} == {2_194}
    row = diseases["mondo"].index("MONDO:0005180")
    assert diseases["name"][row] == "Parkinson disease"


def test_unknown_name() -> None:
    with pytest.raises(ConfigurationError, match="plants") as caught:
        aliases("plants")
    assert "diseases, genes" in caught.value.remedy


def test_a_damaged_file_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "aliases").mkdir()
    (tmp_path / "aliases" / "genes.gz").write_bytes(b"\x1f\x8bnot gzip at all")
    monkeypatch.setattr(_aliases, "files", lambda package: tmp_path)
    with pytest.raises(KnowledgeBaseError, match="damaged"):
        aliases("genes")


def test_packing_keeps_every_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("pack_aliases", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    (tmp_path / "aliases").mkdir()
    packed = script.pack("a\tb\n1\tx|y\n\tü\n")
    (tmp_path / "aliases" / "small.gz").write_bytes(packed)
    monkeypatch.setattr(_aliases, "files", lambda package: tmp_path)
    assert aliases("small") == {"a": ["1", ""], "b": ["x|y", "ü"]}
    assert packed == script.pack("a\tb\n1\tx|y\n\tü\n")
    for bad in ("a\tb\n1\n", "a\tb\n1\t2\x1d\n"):
        with pytest.raises(ValueError, match=r"separator|shorter|longer"):
            script.pack(bad)
