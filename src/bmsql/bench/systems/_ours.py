"""This project's own agent, with each of its parts switchable."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bmsql.bench._manifest import fingerprint
from bmsql.bench.systems._graph_system import GraphSystem
from bmsql.bench.systems._kit import VALIDATOR, open_agent, without_checks
from bmsql.bench.systems._open import SystemOptions, refuse_own, refuse_parts
from bmsql.conventions import RuleBook
from bmsql.errors import ConfigurationError
from bmsql.prompts import load_prompt, prompt_names
from bmsql.reasoners import Reasoner, open_reasoner
from bmsql.reasoners.chat import ChatOptions, ChatReasoner

if TYPE_CHECKING:
    from bmsql.graph import Dependencies

CONVENTIONS, LINKING = "conventions", "linking"
# What a chat model is not shown or held to, where a part is left out.
_CHAT: dict[str, dict[str, Any]] = {
    LINKING: {"linking": False},
    "examples": {"examples": 0},
    "plans": {"plans": False},
    "reading": {"reading": False},
    "answer-check": {"check_answers": False},
}
# The parts that can be left out. Rules about the evidence key and the limit stay without conventions:
# what they do is part of every query, not of what a question implies.
PARTS = (CONVENTIONS, VALIDATOR, *_CHAT)
_OFFLINE = "offline"
_ALWAYS = ("key", "limit")


class OurSystem(GraphSystem):
    """The `Agent`, as a compared system.

    Without `conventions` no implied threshold, direction or approval is applied, though the question is read as before;
    without `linking` no word of the question is linked to stored values; without `validator` queries pass the guard
    and nothing else. The other parts are those of a chat model: `examples`, `plans`, `reading`, `answer-check`.
    """

    def __init__(self, options: SystemOptions) -> None:
        from bmsql.graph import compile_graph

        refuse_own("ours", options)
        refuse_parts(options, PARTS)
        without = tuple(part for part in PARTS if part in options.without)
        whole = open_agent(options)
        try:
            deps = _reduced(whole.dependencies, without)
        except ConfigurationError:
            whole.close()
            raise
        graph = compile_graph(deps) if without else whole.graph
        settings = {"rules": fingerprint(deps.rules), **_chat_settings(deps.reasoner)}
        super().__init__("ours", whole, graph, without=without, settings=settings)


def _chat_settings(reasoner: Reasoner) -> dict[str, Any]:
    if not isinstance(reasoner, ChatReasoner):
        return {}
    prompts = [load_prompt(name).label for name in prompt_names()]
    examples = fingerprint(reasoner.examples.examples) if reasoner.examples is not None else ""
    return {"chat": reasoner.options.model_dump(mode="json"), "prompts": prompts, "examples": examples}


def _reduced(deps: Dependencies, without: tuple[str, ...]) -> Dependencies:
    """The same parts without some, on the same backend."""
    # Questions are read with all rules in any case.
    reasoner = _reasoner(deps, without)
    if CONVENTIONS in without:
        kept = {rule.name: rule for rule in deps.rules if rule.kind in _ALWAYS}
        deps = replace(deps, rules=RuleBook(kept, profile=deps.rules.profile))
    if VALIDATOR in without:
        deps = without_checks(deps)
    return replace(deps, reasoner=reasoner)


def _reasoner(deps: Dependencies, without: tuple[str, ...]) -> Reasoner:
    reasoner, catalog = deps.reasoner, deps.backend.catalog()
    if isinstance(reasoner, ChatReasoner):
        return _chat_reasoner(reasoner, deps, without)
    only_chat = [part for part in without if part in _CHAT and part != LINKING]
    if only_chat or (LINKING in without and reasoner.name != _OFFLINE):
        part = only_chat[0] if only_chat else LINKING
        raise ConfigurationError(
            f"the reasoner {reasoner.name!r} has no part {part!r} to leave out.",
            remedy=f"Keep `{part}`, or give a chat model: --model provider:name.",
        )
    if LINKING not in without:
        return reasoner
    return open_reasoner(_OFFLINE, semantic_model=deps.model, catalog=catalog, rules=deps.rules, link=_no_link)


def _chat_reasoner(reasoner: ChatReasoner, deps: Dependencies, without: tuple[str, ...]) -> ChatReasoner:
    changed = {name: value for part in without for name, value in _CHAT.get(part, {}).items()}
    return ChatReasoner(
        reasoner.client,
        deps.model,
        deps.rules,
        deps.backend.catalog(),
        _no_link if LINKING in without else reasoner.link,
        options=ChatOptions.model_validate({**reasoner.options.model_dump(), **changed}),
        examples=reasoner.examples,
    )


def _no_link(question: str) -> tuple[()]:
    return ()
