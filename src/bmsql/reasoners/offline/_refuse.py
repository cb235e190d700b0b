"""What is not answered: requests to change data, chatter, things the tables do not hold."""

from __future__ import annotations

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._question import Question
from bmsql.reasoners.offline._vocabulary import Vocabulary
from bmsql.semantic import SemanticModel

_TARGETS = frozenset(
    "table tables row rows column columns record records entry entries database dataset data schema view it them all"
    " value values everything".split()
)
_POINTING = frozenset({"those", "these", "them", "they"})
_MODALS = frozenset({"can", "could", "may", "might", "should", "must", "shall", "is"})
_TAKING = frozenset(
    "take taking combine combining mix mixing swallow stop stopping start starting use using give giving switch".split()
)
# How far into a question the verb may stand, and how far behind it what is taken.
_ADVISED, _OBJECT = 10, 2
# Words of `what is X`, with those of a long name.
_FEW = 6
_POLITE = frozenset(
    "please kindly can could would you now then and just go ahead to i want need must should ; ' \" - , :".split()
)


def refuse(question: Question, model: SemanticModel, vocabulary: Vocabulary) -> str:
    """Why a question is not answered whatever it names, or an empty string."""
    lows = question.lows
    if question.chunked.of("abuse"):
        return "The question asks about the program itself or tries to change what it does, not about the data."
    if question.chunked.of("chatter"):
        return "The question is not about the data."
    for position, low in enumerate(lows):
        if low in _POINTING and not any(
            chunk.first < position and (chunk.mention or chunk.names("noun")) for chunk in question.chunked.chunks
        ):
            return f"'{low}' points to something that this question does not name; each question stands alone."
    problem = _asks_for_advice(question, model) or _asks_to_explain(question, model)
    if problem:
        return problem
    table_names = {name.lower() for name in model.tables}
    for position, low in enumerate(lows):
        strong, weak = low in vocabulary.hostile[0], low in vocabulary.hostile[1]
        if (not strong and not weak) or _is_named(question, position):
            continue
        leads = all(word in _POLITE or word in _TARGETS for word in lows[:position]) or (
            position and lows[position - 1] in ("and", "then", ";", ",", "please", "to")
        )
        rest = lows[position + 1 :]
        acts = bool(_TARGETS & set(rest)) or bool(table_names & set(rest)) or (low == "set" and "to" in rest)
        if (strong and (leads or (acts and not question.has("count")))) or (
            weak and leads and acts and not _is_question(question)
        ):
            return "The data are read-only: rows and tables cannot be added, changed or removed here."
    for chunk in question.chunked.of("outside"):
        if not chunk.mention and len({sense.kind for sense in chunk.senses}) == 1:
            topic = chunk.names("outside")[0]
            return f"The tables hold nothing on {topic} ('{chunk.text}')."
    return ""


_ADVICE = "What a person should take is for a doctor to say; the tables hold no advice."
_PERSONS = frozenset("patient patients person people someone somebody child children woman women man men".split())


def _asks_for_advice(question: Question, model: SemanticModel) -> str:
    """`can my mother take X with Y`, `when should I stop X`: what a person is to do with a named drug."""
    head = [index for index, low in enumerate(question.lows[:2]) if low in _MODALS]
    named = [chunk for chunk in question.chunked.mentions if model.entities[chunk.linked.entity].kind == "name"]
    for index in range(head[0] + 2, min(head[0] + _ADVISED, len(question.lows))) if head and named else ():
        if question.lows[index] not in _TAKING or any(chunk.first < index for chunk in named):
            continue
        if any(0 < chunk.first - index <= _OBJECT for chunk in named):
            return _ADVICE
    # `which drugs should a patient take`: no drug is named, and a person is.
    lows = question.lows
    for index, low in enumerate(lows):
        if low in _MODALS and _PERSONS & set(lows[index + 1 : index + _ADVISED]) and _TAKING & set(lows[index + 1 :]):
            return _ADVICE
    return ""


def _asks_to_explain(question: Question, model: SemanticModel) -> str:
    """`why was X withdrawn`, `what does HEIDI mean`, `what is a p-value`, `what is Parkinson's disease`."""
    words = [token.low for token in question.chunked.tokens if token.kind != "stop"]
    if words[:1] == ["why"]:
        return "The tables hold figures and names, not reasons."
    kinds = [model.entities[chunk.linked.entity].kind for chunk in question.chunked.mentions]
    what = words[:2] in (["what", "is"], ["what", "are"], ["what", "does"], ["what", "do"])
    ends = words[-1:] in (["mean"], ["means"]) or words[-2:] == ["stand", "for"]
    acts = words[-1:] == ["do"] and "symbol" in kinds
    article = words[2:3] in (["a"], ["an"]) and not kinds and not question.regions and not question.chunked.rules
    said = [chunk for chunk in question.chunked.chunks if not chunk.mention and not _is_cue(chunk)]
    bare = kinds == ["term"] and not said and not question.chunked.rules and len(words) <= _FEW
    if what and (ends or acts or article or bare):
        return "What things are or mean is not in the tables; ask what they hold of it."
    return ""


def _is_cue(chunk: Chunk) -> bool:
    """Whether a chunk is an everyday word such as `what is` and nothing else."""
    return all(sense.mode == "cue" for sense in chunk.senses)


def _is_named(question: Question, position: int) -> bool:
    return any(chunk.mention and chunk.first <= position < chunk.last for chunk in question.chunked.chunks)


def _is_question(question: Question) -> bool:
    return question.text.rstrip().endswith("?")
