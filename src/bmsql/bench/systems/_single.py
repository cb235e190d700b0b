"""Systems of one query: a single call in its variants, schema indexing, and DAIL-SQL."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bmsql.bench._manifest import fingerprint
from bmsql.bench._systems import TEMPLATE
from bmsql.bench.systems._graph_system import GraphSystem
from bmsql.bench.systems._kit import Kit, building, open_kit, prompt_labels
from bmsql.bench.systems._open import SystemOptions, own_switch
from bmsql.bench.systems._shown import (
    TableIndex,
    examples_text,
    first_examples,
    sample_rows_text,
    tables_text,
    thresholds_text,
)
from bmsql.bench.systems._steps import (
    FIRST,
    Node,
    PaperState,
    Route,
    after_draft,
    after_single,
    answer,
    compile_steps,
    draft,
    prepare,
    run_query,
)
from bmsql.errors import ConfigurationError
from bmsql.fewshot import HoldOut
from bmsql.graph import Run, Step, Think, Wait, Work
from bmsql.reasoners import current_step
from bmsql.sql import extract_sql

EXAMPLES, HOLD_OUT, TABLES, PRELIMINARY = "examples", "hold-out", "tables", "preliminary"
NEAREST = 3
_TABLES = 2
_EMPTY = {"rows": "", "examples": "", "thresholds": ""}


@dataclass(frozen=True)
class Variant:
    """What a prompt shows beside the schema: rows of each table, example queries, the conventions in words."""

    rows: int = 0
    shots: int = 0
    thresholds: bool = False


VARIANTS = {
    "": Variant(),
    "3-rows": Variant(rows=3),
    "5-rows": Variant(rows=5),
    "1-shot": Variant(shots=1),
    "3-shot": Variant(shots=3),
    "5-shot": Variant(shots=5),
    "stat-instruct": Variant(thresholds=True),
    "combo": Variant(rows=3, shots=3, thresholds=True),
}


def open_single(name: str, options: SystemOptions) -> GraphSystem:
    """One call for the query, one for the answer; the variant is what follows the colon of the name.

    Options: `examples`, a file of example queries beside those of the semantic model; `hold-out`, leave out examples of
    the question's own template.
    """
    variant = VARIANTS[name.partition(":")[2]]
    kit = _open(name, options, (EXAMPLES, HOLD_OUT) if variant.shots else ())
    with building(kit):
        held = own_switch(options, HOLD_OUT, default=False)
        fixed = {
            **_EMPTY,
            "schema": tables_text(kit.deps, kit.tables),
            "rows": sample_rows_text(kit, variant.rows) if variant.rows else "",
            "thresholds": thresholds_text(kit.deps) if variant.thresholds else "",
        }
        if variant.shots:
            first_examples(kit.examples, variant.shots, "", None)

        def show(question: str) -> dict[str, str]:
            left_out = _held_out() if held else None
            shots = first_examples(kit.examples, variant.shots, question, left_out) if variant.shots else ()
            return {**fixed, "examples": examples_text(shots)}

        return _system(name, kit, {FIRST: prepare(show)}, options, shown=variant.shots > 0)


def open_index(name: str, options: SystemOptions) -> GraphSystem:
    """Only the tables whose descriptions are nearest to the question are shown. Option: `tables`, how many (2)."""
    kit = _open(name, options, (TABLES,))
    with building(kit):
        count = _count(options)
        index = TableIndex(kit, options.embeddings)

        def show(question: str) -> dict[str, str]:
            chosen = index.nearest(question, count)
            current_step().detail["tables"] = list(chosen)
            return {**_EMPTY, "schema": tables_text(kit.deps, chosen)}

        return _system(name, kit, {FIRST: prepare(show)}, options, shown=False)


def open_dail(name: str, options: SystemOptions) -> GraphSystem:
    """A preliminary query finds the examples that are nearest by masked question and skeleton; then as a single call.

    Options: `examples` and `hold-out` as for a single call; `preliminary=no` saves that call, and compares questions.
    """
    kit = _open(name, options, (EXAMPLES, HOLD_OUT, PRELIMINARY))
    with building(kit):
        held = own_switch(options, HOLD_OUT, default=False)
        preliminary = own_switch(options, PRELIMINARY, default=True)
        fixed = {**_EMPTY, "schema": tables_text(kit.deps, kit.tables)}
        nodes: dict[str, Node] = {FIRST: prepare(lambda question: fixed)}
        if preliminary:
            nodes["preliminary"] = _preliminary(kit)
        nodes["select"] = _select(kit, held=held)
        return _system(name, kit, nodes, options, shown=True)


def _preliminary(kit: Kit) -> Node:
    def node(state: PaperState, run: Run) -> Work:
        values = {"question": state["question"], **state["shown"]}
        text = yield Think("reply", (kit.ask("preliminary", "sql", values),))
        # It is never run: only how it is built counts.
        return Step({"sql": extract_sql(text) or text}, "planned", {"preliminary": text})

    return node


def _select(kit: Kit, *, held: bool) -> Node:
    def node(state: PaperState, run: Run) -> Work:
        left_out = _held_out() if held else None
        near = yield Wait(
            lambda: kit.examples.nearest(
                state["question"], draft_sql=state["sql"] or None, k=NEAREST, hold_out=left_out
            )
        )
        examples = [one.example for one in near]
        shown = {**state["shown"], "examples": examples_text(examples)}
        return Step({"shown": shown, "sql": ""}, "planned", {"examples": [one.question for one in examples]})

    return node


def _open(name: str, options: SystemOptions, own: tuple[str, ...]) -> Kit:
    given = options.own.get(EXAMPLES) if EXAMPLES in own else None
    return open_kit(name, options, own, **({EXAMPLES: Path(given)} if given else {}))


def _system(name: str, kit: Kit, before: dict[str, Node], options: SystemOptions, *, shown: bool) -> GraphSystem:
    """The graph of one query, after the nodes that find what is shown; shown: whether examples are."""
    nodes: dict[str, Node] = {
        **before,
        "generate": draft(kit, "sql"),
        "execute": run_query,
        "answer": answer(kit),
    }
    routes: dict[str, tuple[Route, tuple[str, ...]]] = {
        "generate": (after_draft, ("execute", "finish")),
        "execute": (after_single, ("answer", "finish")),
    }
    graph = compile_steps(kit, name, nodes, routes, steps=len(nodes) + 1)
    settings = {
        "prompts": prompt_labels("sql", "answer"),
        "options": {name: value for name, value in options.own.items() if name != EXAMPLES},
        "examples": fingerprint(kit.examples.examples) if shown else "",
        "embeddings": type(options.embeddings).__name__ if options.embeddings is not None else "",
        "chat": kit.options.model_dump(mode="json"),
    }
    return GraphSystem(name, kit.agent, graph, without=kit.without, settings=settings)


def _held_out() -> HoldOut:
    """The template of the question under way, as the runner tells it; empty where it has none."""
    config = current_step().config or {}
    return str((config.get("metadata") or {}).get(TEMPLATE) or "")


def _count(options: SystemOptions) -> int:
    text = options.own.get(TABLES, str(_TABLES))
    if not text.isdecimal() or int(text) < 1:
        raise ConfigurationError(f"the option {TABLES!r} is {text!r}.", remedy="Use a whole number from 1.")
    return int(text)
