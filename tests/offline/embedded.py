"""The scorer over the embedded knowledge base, with gold on the package's facts in memory."""

from __future__ import annotations

import io

import duckdb
import pyarrow.parquet as pq

from bmsql import Agent
from bmsql.data import facts_manifest, read_facts_file
from tests.offline.scoring import Scorer

# As the question files write the tables.
TABLES = {
    "AD": "AlzheimerDisease_CombinedGeneData_UUID",
    "PD": "ParkinsonDisease_CompleteGeneData_No23andMe",
    "SMR": "NeurodegenerativeDiseases_SMR_Genes_Full",
    "DRG": "DrugGeneTargets_ComprehensiveAnnotations_updated",
    "IND": "DrugTargets_IndicationsAndTherapeuticUses",
    "LIC": "DrugTargets_LiscensingAndUses",
    "ADP": "AlzheimerDisease_GeneAssoc_Pathways_UUID",
    "PDP": "ParkinsonDisease_GeneAssoc_Pathways_UUID",
    "AF": "NeurodegenerativeDisease_AlleleFrequencies_UUID",
}


def facts() -> duckdb.DuckDBPyConnection:
    """The facts as plain DuckDB tables."""
    connection = duckdb.connect()
    for table in facts_manifest().tables:
        connection.register("given", pq.read_table(io.BytesIO(read_facts_file(table))))
        connection.execute(f'CREATE TABLE "{table.name}" AS SELECT * FROM given')
        connection.unregister("given")
    return connection


def embedded_scorer() -> Scorer:
    """A scorer that asks an agent of default settings."""
    return Scorer(Agent(), facts(), TABLES, "UUID")
