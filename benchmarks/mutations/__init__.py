"""Damaged gold queries: what the checks and the conventions make of the errors that models make."""

from __future__ import annotations

from benchmarks.mutations.course import Course, Outcome
from benchmarks.mutations.damage import Mutant, mutants_of
from benchmarks.mutations.gold import TABLES, Gold, load_gold

__all__ = ["TABLES", "Course", "Gold", "Mutant", "Outcome", "load_gold", "mutants_of"]
