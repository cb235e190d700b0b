"""Conventions: what experts imply in a question, as rules that are data, applied to a syntax tree."""

from bmsql.conventions._apply import Applied
from bmsql.conventions._book import RuleBook
from bmsql.conventions._catalogue import catalogue
from bmsql.conventions._fit import Fitted, fit_to_plan
from bmsql.conventions._ladder import Ladder, Step
from bmsql.conventions._load import load_rules
from bmsql.conventions._place import number_text
from bmsql.conventions._schema import PROFILES, Comparison, Mistaken, NotRecorded, Rule, RuleFile, RuleWording, Trigger

__all__ = [
    "PROFILES",
    "Applied",
    "Comparison",
    "Fitted",
    "Ladder",
    "Mistaken",
    "NotRecorded",
    "Rule",
    "RuleBook",
    "RuleFile",
    "RuleWording",
    "Step",
    "Trigger",
    "catalogue",
    "fit_to_plan",
    "load_rules",
    "number_text",
]
