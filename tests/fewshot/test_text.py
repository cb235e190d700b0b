"""Questions masked, and queries without their names and values."""

from __future__ import annotations

import re

import pytest

from bmsql.errors import ForbiddenSqlError, SqlSyntaxError
from bmsql.fewshot import mask_question, skeleton, skeleton_similarity
from bmsql.types import Mention


def mention(question: str, text: str, entity: str) -> Mention:
    start = question.index(text)
    return Mention(text=text, start=start, end=start + len(text), entity=entity, value=text)


@pytest.mark.parametrize(
    ("question", "named", "masked"),
    [
        (
            "Is rs7412 significant in AD?",
            {"rs7412": "variant", "AD": "disease"},
            "is <variant> significant in <disease>?",
        ),
        ("SNPs near BIN1 with p < 5e-8", {"BIN1": "gene"}, "snps near <gene> with p < <number>"),
        ("within 1,500 kb, or 5 x 10^-8, at 12 %", {}, "within <number>, or <number>, at <number>"),
        ('Drugs   called "Foo  Bar"?', {}, "drugs called <text>?"),
        ("GRCh38 position of IL17A", {"IL17A": "gene"}, "grch38 position of <gene>"),
        ("p below 0.05 and phase 3", {}, "p below <number> and phase <number>"),
        ("", {}, ""),
    ],
)
def test_masked(question: str, named: dict[str, str], masked: str) -> None:
    mentions = [mention(question, text, entity) for text, entity in named.items()]
    assert mask_question(question, mentions) == masked
    assert mask_question(question, reversed(mentions)) == masked


def test_of_overlapping_mentions_the_longer_counts() -> None:
    question = "drugs for type 2 diabetes mellitus"
    inner = mention(question, "diabetes", "disease")
    outer = mention(question, "type 2 diabetes mellitus", "disease")
    beyond = Mention(text="x", start=90, end=91, entity="gene", value="x")
    assert mask_question(question, [inner, outer, beyond]) == "drugs for <disease>"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT UUID, SNP, p FROM `a.b.c` WHERE SNP = 'rs1' AND p < 5e-8 ORDER BY p LIMIT 100",
         "SELECT _ FROM _ WHERE _ = _ AND _ < _ ORDER BY _ LIMIT _"),
        ("select count(distinct x) as n from t where y in ('a', 'b', 'c')",
         "SELECT COUNT(DISTINCT _) FROM _ WHERE _ IN (_)"),
        ("SELECT a.x FROM t AS a JOIN u b ON a.k = b.k WHERE b.z > -1.5 AND b.f = TRUE",
         "SELECT _ FROM _ JOIN _ ON _ = _ WHERE _ > _ AND _ = _"),
        ("SELECT g FROM t, UNNEST(SPLIT(s, ';')) AS g WHERE REGEXP_CONTAINS(s, r'x') -- why",
         "SELECT _ FROM _ CROSS JOIN UNNEST(SPLIT(_, _)) WHERE REGEXP_CONTAINS(_, _)"),
        ("WITH n AS (SELECT 1 AS one) SELECT * FROM n", "WITH _ AS (SELECT _) SELECT * FROM _"),
        ("SELECT x FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY p DESC) = 1",
         "SELECT _ FROM _ QUALIFY ROW_NUMBER() OVER (PARTITION BY _ ORDER BY _ DESC) = _"),
    ],
)  # fmt: skip
def test_skeleton(sql: str, expected: str) -> None:
    assert skeleton(sql) == expected
    assert skeleton(re.sub(r"\b_\b", "masked", expected)) == expected


def test_skeletons_tell_queries_apart() -> None:
    one = skeleton("SELECT a FROM t WHERE b = 1 ORDER BY c LIMIT 1")
    other = skeleton("SELECT COUNT(*) FROM t WHERE b = 1 GROUP BY d")
    assert skeleton_similarity(one, one) == 1.0
    assert 0.2 < skeleton_similarity(one, other) < 0.8
    assert skeleton_similarity(one, other) == skeleton_similarity(other, one)


@pytest.mark.parametrize(
    ("sql", "error"), [("SELECT FROM WHERE", SqlSyntaxError), ("DELETE FROM t WHERE TRUE", ForbiddenSqlError)]
)
def test_a_skeleton_needs_a_select(sql: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        skeleton(sql)
