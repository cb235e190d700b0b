"""Tables, linked values and rules as the prompts show them: short, and the same for the same model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bmsql.conventions import Rule, RuleBook, number_text
from bmsql.planning import match_condition
from bmsql.semantic import SemanticModel, Table
from bmsql.types import ConventionUse, Mention

# A name this short says little by itself.
_CRYPTIC = 5
_MEANING = 40
# Stored values that a mention shows; a tissue may stand for dozens.
_VALUES = 6


def table_names(tables: Iterable[str], prefix: str = "") -> str:
    """Names in backticks, under the prefix of project and dataset where there is one."""
    return ", ".join(f"`{prefix}{name}`" for name in tables)


def schema_text(model: SemanticModel, tables: Sequence[str], *, full: bool) -> str:
    """The tables by family: what a row is, which table is about what, columns, and what can be matched.

    full: with types and the meaning of each column; otherwise names, with a meaning only where the
    name is cryptic. Tables of one family with the same columns have them listed once.
    """
    blocks = [f"{model.evidence_key} STRING is the evidence key of every table."] if model.evidence_key else []
    families = dict.fromkeys(model.tables[name].family for name in tables)
    for family in families:
        spec = model.families[family]
        lines = [f"[{family}] {spec.label}: a row is {spec.row or 'a ' + spec.label}"]
        groups: dict[tuple[str, ...], list[str]] = {}
        for name in tables:
            if model.tables[name].family == family:
                groups.setdefault(tuple(model.tables[name].columns), []).append(name)
        for names in groups.values():
            lines += [_titled(model, name) for name in names]
            lines.append("  " + _columns(model, names[0], full))
        if not full:
            matched = [name for name, entity in model.entities.items() if family in entity.match]
            if matched:
                lines.append(f"  entities: {', '.join(matched)}")
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def _titled(model: SemanticModel, name: str) -> str:
    table = model.tables[name]
    about = _about(table)
    text = "; ".join(part for part in (about, table.description if not about else "") if part)
    return f"`{name}`{' - ' + text if text else ''}"


def _about(table: Table) -> str:
    told = [f"{entity} {value}" for entity, value in table.about.items()]
    told += [f"{entity} {', '.join(values)} together" for entity, values in table.covers.items()]
    return ", ".join(told)


def _columns(model: SemanticModel, name: str, full: bool) -> str:
    """The columns of a table, in one line."""
    described = []
    for column, spec in model.tables[name].columns.items():
        if column == model.evidence_key:
            # Said once for all tables.
            continue
        meaning = model.meaning(name, column)[0]
        if full:
            described.append(f"{column} {spec.type}{f' ({_short(meaning, 3 * _MEANING)})' if meaning else ''}")
        elif len(column) < _CRYPTIC and meaning:
            described.append(f"{column} ({_short(meaning, _MEANING)})")
        else:
            described.append(column)
    return ", ".join(described)


def _short(text: str, limit: int) -> str:
    """The first clause of a meaning, within `limit` characters."""
    clause = text.split(";", maxsplit=1)[0].strip() if len(text) > limit else text
    return clause if len(clause) <= limit else clause[: clause.rfind(" ", 0, limit)].rstrip(",(")


def linked_text(mentions: Sequence[Mention]) -> str:
    """What the question names and how it is stored, one mention after the other; "nothing" for none."""
    return " | ".join(_linked(mention) for mention in mentions) or "nothing"


def _linked(mention: Mention) -> str:
    if mention.method == "unlinked":
        return f'"{mention.text}": {mention.entity}, not in the data{_near(mention, "near")}'
    stored: dict[tuple[str, ...], list[str]] = {}
    for family, values in mention.stored.items():
        stored.setdefault(values, []).append(family)
    shown = [
        f"{'/'.join(names)}: {', '.join(f'{value!r}' for value in values[:_VALUES]) or 'absent'}"
        for values, names in stored.items()
    ]
    where = f" [{'; '.join(shown)}]" if shown else ""
    note = f" ({mention.note})" if mention.note else ""
    return f'"{mention.text}": {mention.entity} {mention.value}{where}{note}{_near(mention, "or")}'


def matched_text(mentions: Sequence[Mention], model: SemanticModel, tables: Sequence[str]) -> str:
    """What the question names, and the condition that matches it in each of these tables."""
    told = []
    for mention in mentions:
        if mention.method == "unlinked":
            told.append(_linked(mention))
            continue
        conditions: dict[str, list[str]] = {}
        for name in tables:
            family = model.tables[name].family
            values = mention.stored.get(family, (mention.value,))
            if model.tables[name].about.get(mention.entity) == mention.value:
                conditions.setdefault("all its rows", []).append(name)
            elif family in model.entities[mention.entity].match and model.entities[mention.entity].kind != "region":
                tree = match_condition(model, name, mention.entity, values or (mention.value,))
                conditions.setdefault(tree.sql("bigquery"), []).append(name)
        several = len(tables) > 1
        shown = [sql + (" in " + ", ".join(names) if several else "") for sql, names in conditions.items()]
        where = "; ".join(shown) or "not in these tables"
        told.append(f'"{mention.text}": {mention.entity} {mention.value}; {where}')
    return "\n".join(told) or "nothing"


def _near(mention: Mention, word: str) -> str:
    return f"; {word}: {', '.join(mention.alternatives[:3])}" if mention.alternatives else ""


def rules_text(rules: RuleBook, model: SemanticModel, families: Iterable[str]) -> str:
    """The rules that a plan can name, each with its condition."""
    wanted = set(families)
    return "; ".join(
        f"{rule.name} ({rule_condition(rule, model)})"
        for rule in rules
        if rule.kind in ("threshold", "direction", "approval") and wanted & set(rule.families)
    )


def rule_condition(rule: Rule, model: SemanticModel) -> str:
    """A rule's condition, with the column's name where all tables agree on it."""
    columns = {table.column_by_role[rule.role] for table in model.tables.values() if rule.role in table.column_by_role}
    column = next(iter(columns)) if len(columns) == 1 else rule.role
    value = rule.value
    if isinstance(value, tuple):
        return f"{column} between {number_text(value[0])} and {number_text(value[1])}"
    if isinstance(value, bool | str):
        return f"{column} {rule.op} {str(value).upper() if isinstance(value, bool) else value}"
    return f"{column} {rule.op} {number_text(value)}"


def added_text(uses: Sequence[ConventionUse], rules: RuleBook, model: SemanticModel) -> str:
    """The conditions that are put in by rule after the query is written, or an empty text."""
    told = []
    for use in uses:
        if use.rule not in rules or use.mode not in ("implied", "complement") or not rules[use.rule].op:
            continue
        rule = rules[use.rule]
        told.append(f"{'not ' if use.mode == 'complement' else ''}{rule_condition(rule, model)}")
        if use.mode == "implied":
            beside = [name for name in rule.companions.get(rules.profile, ()) if name in rules and rules[name].op]
            told += [rule_condition(rules[name], model) for name in beside]
    return f"ADDED AFTERWARDS: {'; '.join(dict.fromkeys(told))}" if told else ""
