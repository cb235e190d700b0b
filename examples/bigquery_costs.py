"""Ask a dataset of BigQuery, within a budget, and print what the answer cost.

    python examples/bigquery_costs.py bigquery://my-project/my_dataset "Which SNPs near BIN1 are significant?"

Needs `pip install 'bmsql[bigquery]'` and credentials: `gcloud auth application-default login`. The tables are
BiomedSQL's, or those of the semantic model that BMSQL_SEMANTIC_MODEL names.
"""

import sys

from bmsql import Agent
from bmsql.backends import job_labels
from bmsql.types import money_text, size_text

BUDGET = 5 * 1024**3  # bytes that one query may be billed; beyond it is refused before it costs anything


def main(url: str, question: str) -> None:
    # The labels are found again in BigQuery's billing export.
    with Agent(backend=url, limits={"bytes_billed": BUDGET}) as agent, job_labels(team="example"):
        answer = agent.ask(question)
        print(answer)
        usage = answer.usage
        print(f"billed: {size_text(usage.bytes_billed or 0)} ({money_text(usage.cost or 0)})")
        total = size_text(usage.total_bytes_billed or 0)
        print(f"in all, with the index of stored values: {total} ({money_text(usage.total_cost or 0)})")
        for warning in answer.warnings:
            print(f"note: {warning}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
