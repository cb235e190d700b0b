"""Misspelt and invented columns, and the dropped evidence key."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

_INVENTED = {
    "p": ("p_value", "pval", "P_VALUE"),
    "snp": ("rsid", "variant_id", "snp_id"),
    "nearestgene": ("nearest_gene", "gene"),
    "gene": ("gene_name", "gene_symbol"),
    "chr_38": ("chromosome", "chr", "CHR38"),
    "bp_38": ("position", "pos_38"),
    "freq": ("effect_allele_frequency", "maf"),
    "drugname": ("drug_name", "name"),
    "p_smr_multi": ("p_multi", "p_smr_multi_snp"),
    "p_heidi": ("heidi_p", "pHEIDI"),
    "max_phase_for_ind": ("max_phase", "phase"),
    "mesh_heading": ("disease", "indication"),
    "drugisapproved": ("is_approved", "approved"),
    "uuid": ("id", "row_id"),
    "omic_tissue": ("tissue",),
}


def _stored(tree: exp.Query) -> list[str]:
    """Names of columns of the query that are no aliases."""
    aliases = {node.alias.lower() for node in tree.find_all(exp.Alias, exp.TableAlias) if node.alias}
    names = dict.fromkeys(column.name for column in tree.find_all(exp.Column) if not isinstance(column.this, exp.Star))
    return [name for name in names if name.lower() not in aliases and name != "gene"]


def _renamed(tree: exp.Query, old: str, new: str) -> str:
    copied = tree.copy()
    for column in copied.find_all(exp.Column):
        if column.name == old:
            column.set("this", exp.to_identifier(new))
    return copied.sql("bigquery")


def _misspelling(spell: Callable[[str], str]) -> Callable[[exp.Query, str], Iterator[str]]:
    def damage(tree: exp.Query, sql: str) -> Iterator[str]:
        for name in _stored(tree):
            if len(name) > 3 and spell(name).lower() != name.lower():
                yield _renamed(tree, name, spell(name))

    return damage


def _invented(tree: exp.Query, sql: str) -> Iterator[str]:
    for name in _stored(tree):
        for other in _INVENTED.get(name.lower(), ()):
            yield _renamed(tree, name, other)


def _unknown_qualifier(tree: exp.Query, sql: str) -> Iterator[str]:
    columns = [column for column in tree.find_all(exp.Column) if not isinstance(column.this, exp.Star)]
    for number in range(len(columns)):
        copied = tree.copy()
        found = [column for column in copied.find_all(exp.Column) if not isinstance(column.this, exp.Star)]
        found[number].set("table", exp.to_identifier("zz"))
        yield copied.sql("bigquery")


def _without_key(tree: exp.Query, sql: str) -> Iterator[str]:
    changed = False
    for select in tree.find_all(exp.Select):
        kept = [item for item in select.expressions if item.alias_or_name.lower() != "uuid"]
        if kept and len(kept) < len(select.expressions):
            select.set("expressions", kept)
            changed = True
    if changed:
        yield tree.sql("bigquery")


DAMAGES = {
    "a letter left out": _misspelling(lambda name: name[:2] + name[3:]),
    "two letters exchanged": _misspelling(lambda name: name[:1] + name[2] + name[1] + name[3:]),
    "a letter doubled": _misspelling(lambda name: name[:-1] + name[-2:]),
    "an underscore put in": _misspelling(lambda name: name[:3] + "_" + name[3:]),
    "an invented name": _invented,
    "an unknown qualifier": _unknown_qualifier,
}
KEY_DAMAGES = {"drop the evidence key": _without_key}
