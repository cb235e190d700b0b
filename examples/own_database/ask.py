"""Ask a database of your own: a DuckDB file, a semantic model and one convention.

python examples/own_database/ask.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb

from bmsql import Agent

HERE = Path(__file__).resolve().parent

QUESTIONS = (
    "Which compounds are active against TGFBR1?",
    "Which compounds are inactive?",
    "How many compounds are active?",
    "Which compounds were tested in the cell assay?",
    "What is the IC50 of Ruxolitinib?",
    "Who synthesised Tozasertib?",
)


def make_database(path: Path) -> None:
    """Stand in for the file that you have already."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE screen_hits (id VARCHAR, compound VARCHAR, gene VARCHAR, assay VARCHAR, ic50 DOUBLE)"
        )
        connection.executemany(
            "INSERT INTO screen_hits VALUES (?, ?, ?, ?, ?)",
            [
                ("t1", "Galunisertib", "TGFBR1", "kinase", 172.0),
                ("t2", "Vactosertib", "TGFBR1", "kinase", 11.0),
                ("t3", "Ruxolitinib", "JAK2", "kinase", 4.5),
                ("t4", "Tozasertib", "AURKA", "cell", 27.0),
            ],
        )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "lab.duckdb")
        make_database(database)
        with Agent(
            backend=f"duckdb://{database}", semantic_model=HERE / "screen.yaml", rules=HERE / "rules.yaml"
        ) as agent:
            for question in QUESTIONS:
                answer = agent.ask(question)
                print(f"{question}\n  {answer.text}")
                for record in answer.conventions:
                    if record.rule == "active":
                        print(f"  [{record.rule}, {record.status}: {record.predicate}]")


if __name__ == "__main__":
    main()
