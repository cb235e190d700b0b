"""Applying rules to a query: which rule is asked of which table, in which order, with what record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from bmsql.conventions._default_limit import ensure_limit
from bmsql.conventions._evidence_key import ensure_key
from bmsql.conventions._place import comparison
from bmsql.conventions._schema import Profile, Rule
from bmsql.conventions._scopes import Source
from bmsql.conventions._threshold import Demand, Outcome, Work, enforce, sql
from bmsql.conventions._values import failing
from bmsql.semantic import SemanticModel
from bmsql.sql import copied
from bmsql.types import ConventionRecord, ConventionUse

_RANK = {"corrected": 3, "applied": 2, "complement": 2, "already": 1}


@dataclass(frozen=True, slots=True)
class Applied:
    """A rewritten query: the new tree, what was done about each rule, and what to warn of."""

    tree: exp.Query
    records: tuple[ConventionRecord, ...]
    changed: bool
    warnings: tuple[str, ...] = ()


class Application:
    """One run of a rule book over one query."""

    def __init__(
        self,
        rules: Mapping[str, Rule],
        profile: Profile,
        tree: exp.Query,
        model: SemanticModel,
        *,
        qualified: bool | None = None,
        sources: Mapping[str, str] | None = None,
        values: Mapping[str, Sequence[str]] | None = None,
        inside: Sequence[str] = (),
    ) -> None:
        self.rules = rules
        self.profile = profile
        self.work = Work(copied(tree), model, qualified)
        self.aliases = {alias.lower(): table for alias, table in (sources or {}).items()}
        self.values = {alias.lower(): {text.lower() for text in texts} for alias, texts in (values or {}).items()}
        self.inside = {alias.lower() for alias in inside}
        self.records: list[ConventionRecord] = []
        self.warnings: list[str] = []

    def run(self, uses: Sequence[ConventionUse]) -> Applied:
        """Apply what `uses` imply, then the key and the limit."""
        uses = self._with_companions(uses)
        demands: list[tuple[Demand, ConventionUse, str, str]] = []
        for use in uses:
            rule = self.rules[use.rule]
            if rule.kind in {"key", "limit"}:
                continue
            bases = self._meant(rule, use, uses)
            if use.mode in {"implied", "complement"} and rule.op:
                demands += [(self._demand(rule, use, base, uses), use, base.table, base.alias) for base in bases]
                if not bases:
                    self._unmet(rule, use)
            else:
                self._note(rule, use, bases)
        for demand, use, table, alias in demands:
            others = [other for other, *_ in demands if other.node is demand.node and other is not demand]
            outcome = enforce(self.work, demand, others)
            self._record(demand, use, table, alias, outcome)
        self._key(uses)
        self._limit(uses)
        return Applied(self.work.tree, tuple(self._merged()), self.work.changed, tuple(dict.fromkeys(self.warnings)))

    def _with_companions(self, uses: Sequence[ConventionUse]) -> list[ConventionUse]:
        """The uses of rules of this book, with the rules that go with them in this profile."""
        known = [use for use in uses if use.rule in self.rules]
        result = list(known)
        for use in known:
            if use.mode != "implied":
                continue
            for name in self.rules[use.rule].companions.get(self.profile, ()):
                if name not in self.rules:
                    continue
                role, near = self.rules[name].role, {"", use.source}
                if not any(self.rules[other.rule].role == role for other in result if other.source in near):
                    result.append(ConventionUse(rule=name, mode="implied", source=use.source, words=use.words))
        return result

    def _meant(self, rule: Rule, use: ConventionUse, uses: Sequence[ConventionUse]) -> list[Source]:
        """The table uses that `use` is about. One that names a source wins over one that does not."""
        having = [
            base
            for base in self.work.scopes.bases()
            if any(self.work.model.column(base.table, role) for role in rule.all_roles)
        ]
        if use.source:
            return self._named(use.source, having, alone=sum(other.rule == use.rule for other in uses) == 1)
        roles = set(rule.all_roles)
        specific = [
            id(base.node)
            for other in uses
            if other.source and roles & set(self.rules[other.rule].all_roles)
            for base in self._named(other.source, having, alone=False)
        ]
        return [base for base in having if id(base.node) not in specific]

    def _named(self, source: str, bases: list[Source], *, alone: bool) -> list[Source]:
        """The table uses under an alias or a table name; all of them where the name tells nothing apart."""
        name = source.lower()
        found = [base for base in bases if base.name.lower() == name or base.alias.lower() == name]
        if not found:
            table = self.aliases.get(name, source).rpartition(".")[2].lower()
            found = [base for base in bases if base.table.lower() == table]
            if len(found) > 1 and (told := self.values.get(name)):
                found = [base for base in found if self._speaks_of(base, told)] or found
            if len(found) > 1 and self.inside:
                found = [base for base in found if (base.scope.parent is not None) == (name in self.inside)] or found
        return found or (bases if alone else [])

    def _speaks_of(self, base: Source, values: set[str]) -> bool:
        """Whether a condition on this use of a table names one of the values."""
        for literal in base.scope.select.find_all(exp.Literal):
            if literal.name.lower() not in values or literal.find_ancestor(exp.Select) is not base.scope.select:
                continue
            condition = literal.find_ancestor(exp.Predicate)
            columns = condition.find_all(exp.Column) if condition is not None else ()
            if any(self.work.scopes.find(base.scope, column) is base for column in columns):
                return True
        return False

    def _demand(self, rule: Rule, use: ConventionUse, base: Source, uses: Sequence[ConventionUse]) -> Demand:
        stated = any(
            other.mode == "stated"
            and self.rules[other.rule].role == rule.role
            and (not other.source or base in self._named(other.source, [base], alone=False))
            for other in uses
        )
        if use.mode != "complement":
            return Demand(rule, rule.op, rule.value, base.node, keep=stated)
        op, value = failing(rule, self.rules)
        return Demand(rule, op, value, base.node, complement=True, keep=stated)

    def _note(self, rule: Rule, use: ConventionUse, bases: list[Source]) -> None:
        """A record of a rule that is not applied; what the query itself says about its column goes with it."""
        status = {"stated": "stated", "waived": "waived"}.get(use.mode, "stated" if rule.kind == "lookup" else "judged")
        places: dict[tuple[str, str], Source | None] = {(base.table, base.alias): base for base in bases}
        places = places or {("", ""): None}
        for (table, alias), base in places.items():
            said = [
                sql(atom.node)
                for atom in self.work.atoms
                for role in rule.all_roles
                if base is not None and atom.about(base, role)
            ]
            predicate = " AND ".join(dict.fromkeys(said))
            if use.mode == "waived" and predicate and rule.op:
                self.warnings.append(f"The question asks for no {rule.title.lower()}, but the query has {predicate}.")
            if use.mode in {"judge", "waived"} and base is not None and rule.op and not predicate:
                column = self.work.model.column(base.table, rule.role)
                predicate = sql(comparison(exp.column(column), rule.op, rule.value)) if column else ""
            self.records.append(self._entry(rule, status, table, alias, predicate or use.value, use.words))

    def _unmet(self, rule: Rule, use: ConventionUse) -> None:
        self.records.append(self._entry(rule, "unmet", "", use.source, "", use.words))
        where = f"the source '{use.source}'" if use.source else "the query"
        self.warnings.append(f"{rule.title} could not be applied: {where} reads no column for it ({rule.role}).")

    def _record(self, demand: Demand, use: ConventionUse, table: str, alias: str, outcome: Outcome) -> None:
        rule, reason = demand.rule, demand.rule.reason
        if demand.complement and rule.complement in self.rules:
            reason = self.rules[rule.complement].reason
        if outcome.replaced:
            was = ", ".join(f"`{text}`" for text in dict.fromkeys(outcome.replaced))
            reason = f"Replaces {was}. {reason}"
        entry = self._entry(rule, outcome.status, table, alias, outcome.predicate, use.words)
        self.records.append(entry.model_copy(update={"reason": reason}))

    def _key(self, uses: Sequence[ConventionUse]) -> None:
        for rule in self._of_kind("key", uses):
            status, predicate = ensure_key(
                self.work.tree, self.work.scopes, beside_distinct=self.profile in rule.beside_distinct
            )
            if status != "none":
                self.work.changed |= status == "applied"
                self.records.append(self._entry(rule, status, "", "", predicate, ""))

    def _limit(self, uses: Sequence[ConventionUse]) -> None:
        for rule in self._of_kind("limit", uses):
            stated = next((use for use in uses if use.rule == rule.name and use.mode == "stated"), None)
            rows = self.work.model.default_limit
            if isinstance(rule.value, int | float) and rule.value > 0:
                rows = int(rule.value)
            if stated and stated.value.isdigit():
                rows = int(stated.value)
            status, predicate = ensure_limit(self.work.tree, rows)
            if status != "none":
                self.work.changed |= status == "applied"
                words = stated.words if stated else ""
                self.records.append(self._entry(rule, "stated" if stated else status, "", "", predicate, words))

    def _of_kind(self, kind: str, uses: Sequence[ConventionUse]) -> list[Rule]:
        """Rules of a kind, with a record instead for those that the question waives."""
        result = []
        for rule in self.rules.values():
            if rule.kind != kind:
                continue
            waived = next((use for use in uses if use.rule == rule.name and use.mode in {"waived", "judge"}), None)
            if waived:
                self.records.append(self._entry(rule, "waived", "", "", "", waived.words))
            else:
                result.append(rule)
        return result

    def _entry(self, rule: Rule, status: str, table: str, alias: str, predicate: str, words: str) -> ConventionRecord:
        return ConventionRecord.model_validate(
            {
                "rule": rule.name,
                "status": status,
                "table": table,
                "source": alias,
                "predicate": predicate,
                "reason": rule.reason,
                "citation": rule.citation,
                "words": words,
                "profile": self.profile,
            }
        )

    def _merged(self) -> list[ConventionRecord]:
        """One record for a rule and a source, which several scopes may share."""
        merged: dict[tuple[str, str, str], ConventionRecord] = {}
        for record in self.records:
            key = (record.rule, record.table, record.source)
            if key not in merged or _RANK.get(record.status, 0) > _RANK.get(merged[key].status, 0):
                merged[key] = record
        return list(merged.values())
