"""The one function behind every rule that is `role operator value`.

::

    SELECT SNP FROM gwas WHERE gene = 'BIN1'                    -- wrong: no threshold
    SELECT SNP FROM gwas WHERE gene = 'BIN1' AND p < 0.05       -- wrong: another threshold
    SELECT SNP FROM gwas WHERE gene = 'BIN1' AND p < 5e-8       -- right
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from bmsql.conventions._conditions import Atom, Clause, atoms, conjuncts
from bmsql.conventions._place import Value, both, comparison, drop, place
from bmsql.conventions._read import bare
from bmsql.conventions._schema import Rule
from bmsql.conventions._scopes import Scopes, Source
from bmsql.conventions._values import Kept, kept_by, standing
from bmsql.semantic import SemanticModel
from bmsql.sql import copied, one_line

Status = Literal["applied", "complement", "corrected", "already"]


class Work:
    """A query being rewritten: its tree, and the reading of it, renewed after each change."""

    def __init__(self, tree: exp.Query, model: SemanticModel, qualified: bool | None = None) -> None:
        self.tree = tree
        self.model = model
        self.qualified = qualified
        self.changed = False
        self.corrected: dict[int, tuple[exp.Expr, str]] = {}
        self._scopes: Scopes | None = None
        self._atoms: list[Atom] | None = None

    @property
    def scopes(self) -> Scopes:
        """The scopes of the tree, as of the last change that `touched` was told of."""
        if self._scopes is None:
            self._scopes = Scopes(self.tree, self.model)
        return self._scopes

    @property
    def atoms(self) -> list[Atom]:
        """The conditions of the tree; read with the scopes."""
        if self._atoms is None:
            self._atoms = atoms(self.scopes)
        return self._atoms

    def touched(self) -> None:
        """Have the tree read again, by whoever asks next, after a change."""
        self.changed = True
        self._scopes = self._atoms = None


@dataclass(frozen=True, slots=True)
class Demand:
    """A rule, or its complement, asked of one use of a table.

    `keep`: the user stated a condition of their own on this column, so none is corrected.
    """

    rule: Rule
    op: str
    value: Value
    node: exp.Expr
    complement: bool = False
    keep: bool = False

    @property
    def kept(self) -> Kept:
        """The values that it keeps."""
        return kept_by(self.op, self.value)

    def said_by(self, kept: Kept) -> bool:
        """Whether a condition that keeps `kept` already says it."""
        return standing(kept, self.kept, self.rule, own=not self.complement) == "same"


@dataclass(slots=True)
class Outcome:
    """What was done: the status, the condition as it stands in the query, and what it replaced."""

    status: Status
    predicate: str
    replaced: list[str] = field(default_factory=list)


def enforce(work: Work, demand: Demand, others: Sequence[Demand] = ()) -> Outcome:
    """Make the query keep to `demand`; `others` are demands on the same rows, not to be undone."""
    wanted, base = demand.kept, work.scopes.base(demand.node)
    before = _spoken(work, demand, base, wanted)
    replaced: list[str] = []
    if _satisfied(work, demand, base):
        for atom in before:
            # A weaker condition beside the right one changes nothing; a narrower one does.
            if _wrong(atom, demand, wanted, others) and not wanted.within(atom.reading.kept):
                replaced.append(sql(atom.node))
                drop(atom.node)
    else:
        for atom in before:
            if _wrong(atom, demand, wanted, others):
                replaced.append(sql(atom.node))
                _replace(work, atom, atom.reading.subject, demand)
        replaced += _correct_columns(work, demand, base, others)
    if replaced:
        work.touched()
        base = _without_repeats(work, demand)
    said = _said(work, demand, base)
    if _satisfied(work, demand, base) or (said and all(atom.clause.kind == "case" for atom in said)):
        replaced = replaced or [work.corrected[id(atom.node)][1] for atom in said if id(atom.node) in work.corrected]
        return Outcome("corrected" if replaced else "already", sql(said[0].node) if said else "", replaced)
    predicate = sql(_add_to_cases(work, demand, base, others) or _add(work, demand, base, said))
    work.touched()
    return Outcome("corrected" if replaced else "complement" if demand.complement else "applied", predicate, replaced)


def _without_repeats(work: Work, demand: Demand) -> Source:
    """Keep one of several equal conditions that corrections may leave side by side."""
    base = work.scopes.base(demand.node)
    seen: set[tuple[int, str]] = set()
    repeated = False
    for atom in _said(work, demand, base):
        whole = atom.clause.expression
        if whole is None or not any(part is atom.node for part in conjuncts(whole)):
            continue
        key = (id(atom.clause), sql(atom.node))
        if key in seen:
            drop(atom.node)
            repeated = True
        seen.add(key)
    if repeated:
        work.touched()
        base = work.scopes.base(demand.node)
    return base


def sql(node: exp.Expr) -> str:
    """The node as BigQuery SQL."""
    return one_line(node, comments=False)


def said_atoms(work: Work, demand: Demand) -> list[Atom]:
    """The conditions of the query that say what `demand` asks."""
    return _said(work, demand, work.scopes.base(demand.node))


def _spoken(work: Work, demand: Demand, base: Source, wanted: Kept) -> list[Atom]:
    return [atom for atom in work.atoms if atom.about(base, demand.rule.role) and _fits(atom, wanted)]


def _fits(atom: Atom, wanted: Kept) -> bool:
    """MIN(p) < x is p < x of some row of the group; MIN(p) > x says nothing of the kind."""
    extremes = {extreme for _, _, extreme in atom.origins if extreme}
    if not extremes:
        return True
    return extremes == {"MIN" if wanted.high is not None and wanted.low is None else "MAX"}


def _wrong(atom: Atom, demand: Demand, wanted: Kept, others: Sequence[Demand]) -> bool:
    kept = atom.reading.kept
    if demand.keep or any(other.said_by(kept) for other in others if other.rule.role == demand.rule.role):
        return False
    return standing(kept, wanted, demand.rule, own=not demand.complement) in {"near", "wrong"}


def _replace(work: Work, atom: Atom, subject: exp.Expr, demand: Demand) -> None:
    new = comparison(subject, demand.op, demand.value)
    for part in new.walk():
        part.pop_comments()
    new.add_comments([comment for part in atom.node.walk() for comment in part.comments or ()])
    # One condition on a UNION speaks for several tables: those that come later must know of it.
    work.corrected[id(new)] = (new, sql(atom.node))
    atom.node.replace(new)


def _correct_columns(work: Work, demand: Demand, base: Source, others: Sequence[Demand]) -> list[str]:
    """Replace conditions that stand for the rule on the wrong column."""
    if demand.complement or demand.keep:
        return []
    wanted, replaced = demand.kept, []
    for mistaken in demand.rule.instead_of:
        if any(other.rule.role == mistaken.role for other in others):
            continue
        for atom in work.atoms:
            kept = atom.reading.kept
            if not atom.about(base, mistaken.role) or atom.reading.extreme:
                continue
            meant = (
                kept == kept_by(mistaken.op, mistaken.value)
                if mistaken.op
                else (kept.high is not None if wanted.high is not None else kept.low is not None)
            )
            if not meant:
                continue
            replaced.append(sql(atom.node))
            column = _right_column(work, atom, base, demand.rule.role)
            if column is None:
                drop(atom.node)
            else:
                _replace(work, atom, column, demand)
    return replaced


def _right_column(work: Work, atom: Atom, base: Source, role: str) -> exp.Column | None:
    """The rule's column as it is named where a condition on another column of the same source stands."""
    if atom.via is base:
        name = work.model.column(base.table, role) or ""
    else:
        name = work.scopes.exposed(atom.via, base, role) if atom.via else ""
    if not name:
        return None
    table = atom.reading.column.args.get("table")
    return exp.Column(this=exp.to_identifier(name), table=copied(table) if table else None)


def _said(work: Work, demand: Demand, base: Source) -> list[Atom]:
    wanted = demand.kept
    found = _spoken(work, demand, base, wanted)
    said = [atom for atom in found if demand.said_by(atom.reading.kept)]
    if said or not (wanted.low is not None and wanted.high is not None):
        return said
    return _said_in_two(found, wanted)


def _said_in_two(found: list[Atom], wanted: Kept) -> list[Atom]:
    """`p >= 0 AND p <= 0.01` says what BETWEEN says."""
    for clause in {id(atom.clause): atom.clause for atom in found}.values():
        whole = clause.expression
        ranges = [atom for atom in found if atom.clause is clause and atom.reading.kept.is_range]
        parts = {id(part) for part in conjuncts(whole)} if whole is not None else set()
        if len(ranges) < 2 or not all(id(atom.node) in parts for atom in ranges):
            continue
        both = Kept()
        for atom in ranges:
            both = both.also(atom.reading.kept)
        if (both.low, both.high, both.low_in, both.high_in) == (wanted.low, wanted.high, True, True):
            return ranges
    return []


def _satisfied(work: Work, demand: Demand, base: Source) -> bool:
    """Whether every row of this use of the table that reaches the result keeps to the rule."""
    holding = _holding(work, demand, base)
    if any(clause.scope is base.scope for clause, _ in holding):
        return True
    consumers = work.scopes.consumers(base)
    if len(consumers) <= 1:
        return bool(holding)
    through = {id(via) for _, via in holding}
    return bool(holding) and all(id(consumer) in through for consumer in consumers)


def _holding(work: Work, demand: Demand, base: Source) -> list[tuple[Clause, Source | None]]:
    """The clauses that hold the rule for `base`, each with the source through which they see it."""
    said = _said(work, demand, base)
    mine = {id(atom.node): atom.via for atom in said}
    if not mine:
        return []
    role, kept = demand.rule.role, demand.said_by
    anyone = mine.keys() | {
        id(atom.node)
        for atom in work.atoms
        if any(found == role for _, found, _ in atom.origins) and kept(atom.reading.kept)
    }
    result: list[tuple[Clause, Source | None]] = []
    for clause in {id(atom.clause): atom.clause for atom in said if atom.clause.kind != "case"}.values():
        whole = clause.expression
        if whole is not None and _holds(whole, mine.keys(), anyone):
            result += [(clause, atom.via) for atom in said if atom.clause is clause]
    return result


def _holds(node: exp.Expr, mine: AbstractSet[int], anyone: AbstractSet[int]) -> bool:
    """AND holds it if a part does; OR if each alternative does for some table, and one for this."""
    node = bare(node)
    if isinstance(node, exp.And):
        return _holds(node.this, mine, anyone) or _holds(node.expression, mine, anyone)
    if isinstance(node, exp.Or):
        sides = (node.this, node.expression)
        if not all(_holds(side, anyone, anyone) for side in sides):
            return False
        # To ask again what all sides have answered would double the work with each OR.
        return mine is anyone or any(_holds(side, mine, anyone) for side in sides)
    return id(node) in mine


def _add_to_cases(work: Work, demand: Demand, base: Source, others: Sequence[Demand]) -> exp.Expr | None:
    """Where another rule holds within COUNTIF and the like only, this one goes there with it."""
    for other in others:
        said = _said(work, other, base)
        name = work.model.column(base.table, demand.rule.role)
        if not name or not said or any(atom.clause.kind != "case" or atom.via is not base for atom in said):
            continue
        placed: exp.Expr | None = None
        for atom in said:
            table = atom.reading.column.args.get("table")
            column = exp.Column(this=exp.to_identifier(name), table=copied(table) if table else None)
            placed = comparison(column, demand.op, demand.value)
            whole = atom.clause.expression
            if whole is not None:
                atom.clause.holder.set(atom.clause.key, both(whole, placed))
        return placed
    return None


def _add(work: Work, demand: Demand, base: Source, said: list[Atom]) -> exp.Expr:
    """Place the condition where the table is read, or where only some readers of a CTE lack it, there."""
    role, covered = demand.rule.role, {id(atom.via) for atom in said}
    consumers = work.scopes.consumers(base)
    lacking = [consumer for consumer in consumers if id(consumer) not in covered]
    if covered and len(consumers) > 1 and lacking and len(lacking) < len(consumers):
        names = [work.scopes.exposed(consumer, base, role) for consumer in lacking]
        if all(names):
            placed = [
                place(work.scopes, consumer, name, demand.op, demand.value, work.qualified)
                for consumer, name in zip(lacking, names, strict=True)
            ]
            return placed[0]
    name = work.model.column(base.table, role) or ""
    return place(work.scopes, base, name, demand.op, demand.value, work.qualified)
