from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bmsql.linking import Linker

WORDS = st.sampled_from(
    "LRRK2 ace Parkinson's disease, Humira; (insulin glargine) in AD? rs 123 the gene CAT near whole blood eQTL "
    "Lou Gehrig's CHEMBL5 alzhiemers XYZ123 MAO-B of and drugs Keytruda multiple sclerosis RA/MS".split()
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=12).map(" ".join)))
def test_mentions_are_in_order_and_where_they_say(linker: Linker, question: str) -> None:
    mentions = linker.link(question)
    end = 0
    for mention in mentions:
        assert end <= mention.start < mention.end <= len(question)
        assert question[mention.start : mention.end] == mention.text
        assert set(mention.stored) == set(linker.model.entities[mention.entity].match)
        assert 0 <= mention.score <= 1
        assert (mention.method == "unlinked") == (mention.score == 0)
        end = mention.end
    assert linker.link(question) == mentions


@pytest.mark.parametrize("word", ["Parkinson's", "LRRK2", "Humira", "rs429358"])
@pytest.mark.parametrize("around", ["{}", "({})", '"{}"', "{}?", "{},", "what of {}: tell", "{}\n", "-- {} --"])
def test_punctuation_around_a_name_does_not_matter(linker: Linker, word: str, around: str) -> None:
    question = around.format(word)
    mentions = linker.link(question)
    assert [mention.text for mention in mentions] == [word]
    assert mentions[0].start == question.index(word)
