"""How a draft matches what the question names, against the recipes of the semantic model.

::

    SNPs near GBA          SELECT SNP FROM gwas WHERE gene LIKE '%GBA%'      -- repaired: GBAP1 is another gene
    drugs that hit TNF     SELECT drug FROM drugs WHERE targets = 'TNF'      -- repaired: a list of targets
    Parkinson's drugs      ... WHERE disease LIKE '%parkinson%'              -- repaired: not Wolff-Parkinson-White
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from bmsql.conventions._scopes import Scopes, Source
from bmsql.planning import match_condition
from bmsql.semantic import SemanticModel
from bmsql.sql import copied, one_line
from bmsql.types import Fix, Mention, Plan, Problem

# A part of a disease's name that says which one is meant.
_PART = 4
# The beginning of a symbol that is still no other's.
_STEM = 3
_ATOMS = (exp.EQ, exp.Like, exp.ILike, exp.In, exp.RegexpLike)
_AROUND = "%^$ (;,\t"
_WORD = re.compile(r"[A-Za-z0-9][\w-]*")
# Classes of characters in a pattern, which are no part of a name.
_ESCAPE = re.compile(r"\\[a-zA-Z]|\[[^\]]*\]")


def fit_matches(tree: exp.Query, plan: Plan, model: SemanticModel) -> tuple[list[Fix], list[Problem]]:
    """Match each thing that the question names as a whole, under its stored name, in place."""
    if not plan.mentions:
        return [], []
    scopes = Scopes(tree, model)
    fixes = []
    for scope in scopes.all:
        for atom in [one for one in scope.select.find_all(*_ATOMS) if _filters(one, scope.select)]:
            column, texts = _compared(atom)
            source = scopes.find(scope, column) if column is not None else None
            if column is None or source is None or not source.table:
                continue
            fix = _fitted(atom, column, texts, source, plan, model)
            if fix is not None:
                fixes.append(fix)
    return fixes, []


def _filters(atom: exp.Expr, select: exp.Select) -> bool:
    """Whether a condition keeps rows of this very SELECT."""
    return atom.find_ancestor(exp.Select) is select and atom.find_ancestor(exp.Where, exp.Join) is not None


def _compared(atom: exp.Expr) -> tuple[exp.Column | None, list[str]]:
    """The column of a comparison with texts, and the texts; nothing for any other condition."""
    if isinstance(atom, exp.In):
        split = next(iter(atom.args["unnest"].expressions), None) if atom.args.get("unnest") else None
        if isinstance(split, exp.Split) and _is_text(atom.this):
            return _bare(split.this), [atom.this.name]
        if not atom.expressions or not all(_is_text(one) for one in atom.expressions):
            return None, []
        return _bare(atom.this), [one.name for one in atom.expressions]
    left, right = atom.this, atom.expression
    if _is_text(left) and isinstance(atom, exp.EQ):
        left, right = right, left
    if not _is_text(right) or atom.args.get("escape") is not None:
        return None, []
    if isinstance(atom, exp.RegexpLike):
        words = _WORD.findall(_ESCAPE.sub(" ", right.name))
        return (_bare(left), words) if len(words) == 1 else (None, [])
    return _bare(left), [right.name]


def _is_text(node: exp.Expr | None) -> bool:
    return (isinstance(node, exp.Literal) and node.is_string) or isinstance(node, exp.RawString)


def _bare(node: exp.Expr) -> exp.Column | None:
    while isinstance(node, exp.Lower | exp.Upper | exp.Trim):
        node = node.this
    return node if isinstance(node, exp.Column) else None


def _fitted(
    atom: exp.Expr, column: exp.Column, texts: list[str], source: Source, plan: Plan, model: SemanticModel
) -> Fix | None:
    family = model.tables[source.table].family
    role = model.role_of(source.table, column.name)
    for entity, spec in model.entities.items():
        recipe = spec.match.get(family)
        if recipe is None or role not in recipe.roles or recipe.how == "region":
            continue
        found = [_mention(text, entity, family, plan, model, atom) for text in texts]
        mentions = [mention for mention in found if mention is not None]
        if len(mentions) < len(texts) or not mentions:
            continue
        stored = [value for one in mentions for value in _stored(one, family, plan)]
        wanted = match_condition(model, source.table, entity, tuple(dict.fromkeys(stored)), column.table)
        if _says(atom, wanted) or (_is_whole(atom) and set(texts) <= set(stored)):
            return None
        before = one_line(atom)
        replaced = exp.paren(wanted, copy=False) if isinstance(wanted, exp.Or) else wanted
        after = one_line(wanted)
        atom.replace(replaced)
        names = " and ".join(dict.fromkeys(f"'{mention.text}'" for mention in mentions))
        message = f"{after} instead of {before}: it matches the {spec.label} {names} as a whole, as it is stored."
        return Fix(code="match", message=message, before=before, after=after)
    return None


def _is_whole(atom: exp.Expr) -> bool:
    """Whether the author took care to match a whole item: of a split list, or between marks of a pattern."""
    if isinstance(atom, exp.RegexpLike):
        return bool(_WORD.sub("", atom.expression.name).strip())
    return isinstance(atom, exp.In) and bool(atom.args.get("unnest"))


def _stored(mention: Mention, family: str, plan: Plan) -> tuple[str, ...]:
    """The values to match: those that the family stores, else those of the plan's own filter."""
    if mention.stored.get(family):
        return mention.stored[family]
    filters = [one for one in plan.filters if one.target == mention.entity and one.op == "match"]
    return tuple(map(str, filters[0].values)) if len(filters) == 1 else (mention.value,)


def _mention(text: str, entity: str, family: str, plan: Plan, model: SemanticModel, atom: exp.Expr) -> Mention | None:
    """What the question names, that a text of the draft is meant to match."""
    wild = isinstance(atom, exp.Like | exp.ILike | exp.RegexpLike)
    low = (text.strip(_AROUND) if wild else text.strip()).casefold()
    kind = model.entities[entity].kind
    for mention in plan.mentions:
        if mention.entity != entity or mention.method == "unlinked":
            continue
        names = {name.casefold() for name in _names(mention, family)}
        if low in names:
            return mention
        if wild and kind == "term" and len(low) >= _PART and any(low in name for name in names):
            return mention
        # `LIKE 'TREM%'` for TREM2 finds its whole family.
        if wild and kind == "symbol" and len(low) >= _STEM and any(name.startswith(low) for name in names):
            return mention
    return None


def _names(mention: Mention, family: str) -> Iterator[str]:
    yield mention.text
    yield mention.value
    yield from mention.stored.get(family, ())


def _says(atom: exp.Expr, wanted: exp.Expr) -> bool:
    """Whether a condition, with the alternatives around it, is the one that is wanted."""
    around = atom
    while isinstance(around.parent, exp.Or | exp.Paren):
        around = around.parent
    written = {_plain(one) for one in _alternatives(around)}
    return all(_plain(one) in written for one in _alternatives(wanted))


def _alternatives(tree: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(tree, exp.Paren):
        yield from _alternatives(tree.this)
    elif isinstance(tree, exp.Or):
        yield from _alternatives(tree.this)
        yield from _alternatives(tree.expression)
    elif isinstance(tree, exp.In) and len(tree.expressions) == 1:
        yield exp.EQ(this=tree.this, expression=tree.expressions[0])
    else:
        yield tree


def _plain(tree: exp.Expr) -> str:
    """A condition as text, without the differences that do not matter."""
    plain = copied(tree)
    for column in plain.find_all(exp.Column):
        for part in ("table", "db", "catalog"):
            column.set(part, None)
        column.this.set("quoted", False)
    return one_line(plain, copy=False).casefold()
