"""YAML that is no semantic model: what is wrong, in which line."""

from __future__ import annotations

import pytest

from bmsql.errors import SemanticModelError
from bmsql.semantic import parse_semantic_model


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        pytest.param("name: x\ntitle: " + "1" * 5000, 2, "number or date", id="long-number"),
        ("name: x\ntitle: y\n? [a, b]\n: 2\n", 3, "key"),
        ("name: x\n? {a: b}\n: 2\n", 2, "key"),
        ("name: x\ntitle: 2020-99-99\ndescription: 2021-99-99\n", 2, "'2020-99-99'"),
        ("name: x\n2020-99-99: y\n", 2, "'2020-99-99'"),
        ("name: x\ntitle: !!bool perhaps\n", 2, "'perhaps'"),
        ("name: x\ntitle: !!timestamp perhaps\n", 2, "'perhaps'"),
        ("name: x\ntitle: a\x00b\n", 2, "U+0000"),
        ("name: x\n\ntitle: a\x1bb\n", 3, "U+001B"),
        ("name: x\nname: y\n", 2, "twice"),
        pytest.param("[" * 20_000, 1, "depth", id="deep"),
    ],
)
def test_wrong_yaml_is_named_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(SemanticModelError) as raised:
        parse_semantic_model(text, file="model.yaml")
    assert (raised.value.file, raised.value.line) == ("model.yaml", line)
    assert said in raised.value.message
    assert raised.value.remedy
