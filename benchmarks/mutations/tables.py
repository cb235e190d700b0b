"""Tables exchanged for their look-alikes, with and without their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.mutations.gold import TABLES
from sqlglot import exp

Damage = Callable[[exp.Query, str], Iterator[str]]

# What a model would write for the same thing in the look-alike.
_GWAS_TO_SMR = {"SNP": "topRSID", "p": "p_GWAS", "b": "b_GWAS", "se": "se_GWAS", "freq": "Freq", "nearestGene": "Gene"}
_SMR_TO_GWAS = {"topRSID": "SNP", "topSNP": "SNP", "p_SMR_multi": "p", "p_GWAS": "p", "b_SMR": "b", "b_GWAS": "b"}
_SMR_TO_GWAS |= {"Gene": "nearestGene", "Freq": "freq", "topSNP_chr": "chr_38"}
_IND_TO_DRUG = {
    "mesh_heading": "linkedDiseasesDrug_string",
    "efo_term": "linkedDiseasesDrug_string",
    "approvedSymbol": "newLinkedTargets_string",
    "max_phase_for_ind": "maxClinicalTrialPhase",
    "drugType": "drugMolecularType",
    "actionType": "drugActionType",
    "tradeNames_list": "tradeNames_string",
    "syns_list": "drugSynonyms_string",
    "chemblId": "chemblIdentifier",
}
_DRUG_TO_IND = {right: left for left, right in _IND_TO_DRUG.items() if left != "mesh_heading"}


def _exchanged(wrong: str, right: str, columns: dict[str, str] | None = None, drop: tuple[str, ...] = ()) -> Damage:
    """`wrong` in place of `right`, each use of it; columns without a counterpart are left out where they can be."""
    old, new = TABLES[right], TABLES[wrong]

    def damage(tree: exp.Query, sql: str) -> Iterator[str]:
        uses = [table for table in tree.find_all(exp.Table) if table.name == old]
        if not uses:
            return
        for table in uses:
            table.set("this", exp.to_identifier(new, quoted=True))
        aliases = {table.alias_or_name for table in uses}
        lone = len(list(tree.find_all(exp.Table))) == len(uses)
        for column in list(tree.find_all(exp.Column)):
            if columns and (column.table in aliases or (lone and not column.table)) and column.name in columns:
                column.set("this", exp.to_identifier(columns[column.name]))
        for name in drop:
            _leave_out(tree, name)
        yield tree.sql("bigquery")

    return damage


def _leave_out(tree: exp.Query, name: str) -> None:
    for select in tree.find_all(exp.Select):
        kept = [item for item in select.expressions if not any(c.name == name for c in item.find_all(exp.Column))]
        if kept:
            select.set("expressions", kept)
    for node in list(tree.find_all(exp.EQ, exp.GT, exp.LT, exp.Like, exp.In)):
        if any(column.name == name for column in node.find_all(exp.Column)) and node.find_ancestor(exp.Where):
            node.replace(exp.true())


def _one_of_two(first: str, second: str) -> Damage:
    """A query of both look-alikes that reads one of them twice."""

    def damage(tree: exp.Query, sql: str) -> Iterator[str]:
        names = {table.name for table in tree.find_all(exp.Table)}
        if {TABLES[first], TABLES[second]} <= names:
            for old, new in ((first, second), (second, first)):
                copied = tree.copy()
                for table in copied.find_all(exp.Table):
                    if table.name == TABLES[old]:
                        table.set("this", exp.to_identifier(TABLES[new], quoted=True))
                yield copied.sql("bigquery")

    return damage


def _also(first: str, second: str) -> Damage:
    """A query of one table that adds the look-alike's rows to it."""

    def damage(tree: exp.Query, sql: str) -> Iterator[str]:
        names = {table.name for table in tree.find_all(exp.Table)}
        if names == {TABLES[first]} and isinstance(tree, exp.Select) and not tree.args.get("order"):
            other = tree.copy()
            for table in other.find_all(exp.Table):
                table.set("this", exp.to_identifier(TABLES[second], quoted=True))
            yield exp.Union(this=tree, expression=other, distinct=False).sql("bigquery")

    return damage


DAMAGES: dict[str, Damage] = {
    "PD GWAS for AD": _exchanged("PD", "AD"),
    "AD GWAS for PD": _exchanged("AD", "PD"),
    "PD gene sets for AD": _exchanged("PDP", "ADP"),
    "AD gene sets for PD": _exchanged("ADP", "PDP"),
    "SMR for AD GWAS, its columns": _exchanged("SMR", "AD", _GWAS_TO_SMR),
    "SMR for PD GWAS, its columns": _exchanged("SMR", "PD", _GWAS_TO_SMR),
    "SMR for GWAS, columns as they were": _exchanged("SMR", "PD"),
    "AD GWAS for SMR, its columns": _exchanged(
        "AD", "SMR", _SMR_TO_GWAS, ("Disease", "p_HEIDI", "Omic_type", "Omic_tissue", "Disease_name", "func_sig")
    ),
    "PD GWAS for SMR, its columns": _exchanged(
        "PD", "SMR", _SMR_TO_GWAS, ("Disease", "p_HEIDI", "Omic_type", "Omic_tissue", "Disease_name", "func_sig")
    ),
    "drug records for indications": _exchanged("DRG", "IND"),
    "drug records for indications, its columns": _exchanged("DRG", "IND", _IND_TO_DRUG),
    "indications for drug records": _exchanged("IND", "DRG"),
    "indications for drug records, its columns": _exchanged("IND", "DRG", _DRUG_TO_IND, ("drugIsApproved",)),
    "drug records for licences": _exchanged("DRG", "LIC"),
    "frequencies for GWAS": _exchanged("AF", "PD"),
    "GWAS for frequencies": _exchanged("PD", "AF"),
    "gene sets for GWAS": _exchanged("PDP", "PD"),
    "another dataset": lambda tree, sql: iter([sql.replace("`bmsql.biomedsql.", "`other.genetics.")]),
    "one of two GWAS twice": _one_of_two("AD", "PD"),
    "the other GWAS too": _also("PD", "AD"),
}
