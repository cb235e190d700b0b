"""The offline reasoner over built questions: how many answers are right, by family and split.

Builds questions over the embedded knowledge base, asks an agent of default settings, and compares the results
with gold as `bmsql bench` does. `--failures` lists what was not right, `--split` keeps to one split.

python benchmarks/bench_offline.py [--n N] [--seed S] [--profile strict|biomedsql] [--split dev] [--failures]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter, defaultdict

from bmsql import Agent
from bmsql.bench import Prices, Question, Score, Split, failure_of, record_of, score_record
from bmsql.bench.factory import build_questions, shipped_templates
from bmsql.errors import BmsqlError
from bmsql.types import Answer

OUTCOMES = ("right", "wrong", "abstained", "error")


def ask(agent: Agent, question: Question) -> tuple[Score, Answer | None]:
    """The score of the agent's answer to one question; any of the library's errors is an outcome."""
    started = time.perf_counter()
    answer = None
    try:
        answer = agent.ask(question.question)
        record = record_of(question, "offline", "offline", answer, Prices())
    except BmsqlError as error:
        record = failure_of(question, "offline", "offline", error, time.perf_counter() - started)
    return score_record(question, record), answer


def line(name: str, outcomes: Counter[str]) -> str:
    """A row of the table: questions, and the share of each outcome."""
    total = sum(outcomes.values())
    shares = "".join(f"{100 * outcomes[outcome] / total:11.1f}" for outcome in OUTCOMES)
    return f"{name:<34}{total:7}{shares}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--n", type=int, default=260, help="questions to build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", choices=("strict", "biomedsql"), default="strict")
    parser.add_argument("--split", choices=("train", "dev", "test"), default="")
    parser.add_argument("--failures", action="store_true", help="list what was not right")
    parser.add_argument("--repeat", type=int, default=1, help="taken from `make bench`; the figures do not vary")
    options = parser.parse_args()
    split: Split = options.split
    with Agent(profile=options.profile) as agent:
        deps = agent.dependencies
        built = build_questions(
            deps.backend,
            deps.model,
            shipped_templates(),
            n=options.n,
            seed=options.seed,
            profile=options.profile,
            split=split,
        )
        groups: dict[str, Counter[str]] = defaultdict(Counter)
        seconds = []
        for question in built.questions:
            score, answer = ask(agent, question)
            seconds.append(score.seconds)
            for group in ("all", f"split {question.split}", f"  {question.template.partition('.')[0]}"):
                groups[group][score.outcome] += 1
            if options.failures and score.outcome != "right":
                print(f"{score.outcome:<10}{question.template:<36}{question.question}")
                print(f"{'':10}gold   {question.gold_sql}\n{'':10}       {question.gold_answer[:160]}")
                if answer is not None:
                    print(
                        f"{'':10}answer {' '.join(answer.sql.split())}\n{'':10}       {answer.text[:200]}", flush=True
                    )
    print(f"{'':<34}{'n':>7}" + "".join(f"{outcome + ' %':>11}" for outcome in OUTCOMES))
    for name in sorted(groups, key=lambda name: (name.startswith("  "), name)):
        print(line(name, groups[name]))
    print(
        f"profile {options.profile}, seed {options.seed}; "
        f"{1000 * statistics.median(seconds):.0f} ms a question (median)"
    )


if __name__ == "__main__":
    main()
