"""SQL: extraction from a model's text, parsing, the guard, the checks and the repairs.

Text in, text out: what is not certain is an error with a suggestion, never a guess.
"""

from bmsql.sql._extract import extract_sql
from bmsql.sql._format import format_sql, same_sql
from bmsql.sql._guard import guard
from bmsql.sql._parse import parse, shared_tree
from bmsql.sql._policy import Policy
from bmsql.sql._tree import children, copied
from bmsql.sql._validate import Validator, validate
from bmsql.sql._write import one_line

__all__ = [
    "Policy",
    "Validator",
    "children",
    "copied",
    "extract_sql",
    "format_sql",
    "guard",
    "one_line",
    "parse",
    "same_sql",
    "shared_tree",
    "validate",
]
