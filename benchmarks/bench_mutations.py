"""Damaged gold queries: what is repaired, rejected, and passed wrongly, by kind of damage.

Every gold query at hand is damaged in the ways that models damage queries, and each damaged draft takes
the product's way with the plan of its question. A share of the gold queries is held out from development. A gold
query that is not let through even undamaged, as the reasoner reads its question otherwise, is counted and left out.

    python benchmarks/bench_mutations.py [--seed N] [--per-damage N] [--repeat N] [--failures]
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

from bmsql import Agent

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.mutations import Course, Gold, Mutant, Outcome, load_gold, mutants_of


def sample(golds: list[Gold], seed: int, per_damage: int) -> list[Mutant]:
    """At most `per_damage` mutants of each damage on each side, spread over the questions."""
    by_damage: dict[tuple[str, bool], list[Mutant]] = defaultdict(list)
    for gold in golds:
        for mutant in mutants_of(gold, seed):
            by_damage[mutant.damage, gold.held_out].append(mutant)
    chosen = []
    for (damage, held_out), mutants in by_damage.items():
        draw = random.Random(f"{seed} {damage} {held_out}")  # noqa: S311 - no secret
        chosen += draw.sample(mutants, min(per_damage, len(mutants)))
    return chosen


def report(title: str, found: list[tuple[Mutant, Outcome]], *, by_damage: bool) -> None:
    """A line per kind, or per kind and damage."""
    print(f"\n{title}")
    print(f"{'':<52}{'mutants':>8}{'repaired':>10}{'rejected':>10}{'unusable':>10}{'wrong':>8}{'ok':>9}")
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for mutant, outcome in found:
        groups[f"{mutant.kind}: {mutant.damage}" if by_damage else mutant.kind].append(outcome)
    for name, outcomes in groups.items():
        counted = [outcome for outcome in outcomes if outcome.verdict != "same"]
        if counted:
            count = Counter(outcome.verdict for outcome in counted)
            unusable = sum(not outcome.usable for outcome in counted)
            share = f"{count['repaired'] / len(counted):.1%}"
            rest = f"{(count['repaired'] + count['rejected'] - unusable) / len(counted):.1%}"
            print(
                f"{name:<52}{len(counted):>8}{count['repaired']:>10}{count['rejected']:>10}"
                f"{unusable:>10}{count['wrong']:>8}{share:>9}{rest:>9}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per-damage", type=int, default=20, help="mutants of each damage on each side")
    parser.add_argument(
        "--repeat", type=int, default=1, help="no figure here is a time; taken for the sake of the others"
    )
    parser.add_argument("--failures", action="store_true", help="show what passed wrongly")
    options = parser.parse_args()
    golds = load_gold()
    course = Course(Agent())

    undamaged = [(gold, course.undamaged(gold)) for gold in golds]
    for side in (False, True):
        name = "held out" if side else "development"
        mine = [outcome for gold, outcome in undamaged if gold.held_out == side]
        print(f"undamaged, {name}: {len(mine)} queries, {Counter(outcome.verdict for outcome in mine)}")
    read = [gold for gold, outcome in undamaged if outcome.verdict == "same"]
    print(f"{len(golds) - len(read)} questions that the reasoner reads otherwise, or not at all, are left out below")
    if options.failures:
        for gold, outcome in undamaged:
            if outcome.verdict != "same" and not gold.held_out:
                print(f"  {gold.id} {outcome.verdict}: {gold.question}\n    {outcome.message or outcome.sql}")

    started = time.perf_counter()
    mutants = sample(read, options.seed, options.per_damage)
    found = [(mutant, course.damaged(mutant.gold, mutant.sql)) for mutant in mutants]
    seconds = time.perf_counter() - started
    for side in (False, True):
        mine_found = [(mutant, outcome) for mutant, outcome in found if mutant.gold.held_out == side]
        name = "held out" if side else "development"
        report(f"{name}, by kind", mine_found, by_damage=False)
        report(f"{name}, by damage", mine_found, by_damage=True)
    if options.failures:
        for mutant, outcome in found:
            bad = outcome.verdict == "wrong" or not outcome.usable
            aim = mutant.kind in {"threshold", "evidence key", "limit", "dialect"}
            if not mutant.gold.held_out and (bad or (aim and outcome.verdict == "rejected")):
                print(f"\n{mutant.kind}: {mutant.damage}: {outcome.verdict} {mutant.gold.id} {mutant.gold.question}")
                print(f"  gold    {mutant.gold.sql}\n  mutant  {mutant.sql}")
                print(f"  product {' '.join(outcome.sql.split())}\n  {outcome.message}")
    print(f"\n{len(found)} mutants in {seconds:.0f} s")


if __name__ == "__main__":
    main()
