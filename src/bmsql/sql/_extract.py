"""SQL out of a model's answer: fences, prose around the statement, JSON wrapping."""

from __future__ import annotations

import json
import re

from bmsql.sql._lexer import LexError, Token, tokenize

# A fenced block, closed or running to the end. The only regular expression on SQL text.
_FENCE = re.compile(
    r"^[ \t]*(?:```|~~~)[ \t]*([A-Za-z0-9_+-]*)[ \t]*\r?\n?(.*?)(?:^[ \t]*(?:```|~~~)|```|\Z)", re.DOTALL | re.MULTILINE
)
_QUERY_STARTS = ("SELECT", "WITH")
# Statements of BigQuery, DuckDB and other systems. A text that begins with one is not prose: it is
# passed on whole, so that the guard sees and refuses it.
STATEMENT_WORDS = frozenset("""
    ALTER ANALYZE ASSERT ATTACH BEGIN BREAK CALL CHECKPOINT CLONE COMMENT COMMIT CONTINUE COPY CREATE DEALLOCATE
    DECLARE DEFINE DELETE DESC DESCRIBE DETACH DROP END EXECUTE EXPLAIN EXPORT FOR FORCE FROM GRANT IF IMPORT INSERT
    INSTALL ITERATE LEAVE LOAD LOOP MERGE OPTIMIZE PIVOT PRAGMA PREPARE RAISE REFRESH RENAME REPEAT REPLACE RESET
    RETURN REVOKE ROLLBACK SET SHOW SUMMARIZE TABLE TRUNCATE UNDROP UNPIVOT UPDATE UPSERT USE VACUUM VALUES WHILE
""".split())  # fmt: skip
_CONTINUATIONS = frozenset("""
    SELECT FROM WHERE AND OR NOT ON USING JOIN INNER LEFT RIGHT FULL CROSS OUTER GROUP ORDER HAVING QUALIFY WINDOW
    LIMIT OFFSET UNION INTERSECT EXCEPT WITH AS CASE WHEN THEN ELSE END IN IS LIKE BETWEEN PIVOT UNPIVOT TABLESAMPLE
""".split())  # fmt: skip


def extract_sql(text: str) -> str:
    r"""The SQL in `text`: a fenced block, a JSON field `sql`, or the statement between prose.

    A trailing semicolon is dropped. A second statement is kept, so that the guard can refuse it.
    Returns "" for a blank text; a text without SQL comes back as it is.

        >>> extract_sql("Here it is:\n```sql\nSELECT 1;\n```\nHope it helps.")
        'SELECT 1'
    """
    stripped = text.strip().lstrip("\ufeff").strip()
    stripped = _from_json(stripped)
    blocks = [block for block in (_clean(match.group(2)) for match in _FENCE.finditer(stripped)) if block]
    if blocks:
        queries = [block for block in blocks if _first_word(block) in _QUERY_STARTS]
        stripped = (queries or blocks)[-1]
    return _without_semicolon(_without_prose(_clean(stripped)))


def _from_json(text: str) -> str:
    if not (text.startswith("{") and text.endswith("}")):
        return text
    try:
        data = json.loads(text)
    except ValueError:
        return text
    for key in ("sql", "query", "sql_query"):
        if isinstance(data, dict) and isinstance(data.get(key), str):
            return str(data[key]).strip()
    return text


def _clean(text: str) -> str:
    """Without stray fences and single backticks around the whole text."""
    text = text.strip()
    for fence in ("```sql", "```bigquery", "```", "~~~"):
        if text.lower().startswith(fence):
            text = text[len(fence) :].strip()
        if text.endswith(fence):
            text = text[: -len(fence)].strip()
    inner = text[1:-1]
    if text[:1] == text[-1:] == "`" and _first_word(inner) in _QUERY_STARTS and inner.count("`") % 2 == 0:
        text = inner.strip()
    return text


def _first_word(text: str) -> str:
    """The first word after comments and opening parentheses, upper-cased."""
    rest = text
    while rest:
        rest = rest.lstrip(" \t\r\n(")
        if rest.startswith(("--", "#")):
            rest = rest.partition("\n")[2]
        elif rest.startswith("/*"):
            rest = rest.partition("*/")[2]
        else:
            break
    end = 0
    while end < len(rest) and (rest[end].isalnum() or rest[end] == "_"):
        end += 1
    return rest[:end].upper()


def _without_prose(text: str) -> str:
    first = _first_word(text)
    if first not in _QUERY_STARTS or _is_prose_with(text):
        if first in STATEMENT_WORDS:
            return text
        start = _query_start(text)
        if start is None:
            return text
        text = text[start:]
    return _without_tail(text)


def _is_prose_with(text: str) -> bool:
    """Whether a text begins with the English word "With" or "Select", not with a clause."""
    words = text.split(None, 3)
    if words[0].upper() == "WITH" and len(words) > 2:
        return not (words[1].upper() == "RECURSIVE" or words[2].upper().startswith(("AS", "(")) or "(" in words[1])
    return False


def _query_start(text: str) -> int | None:
    """Where a line (or what follows a colon) begins with SELECT or WITH name AS."""
    offset = 0
    for line in text.splitlines(keepends=True):
        body = line.lstrip(" \t(>")
        at = offset + len(line) - len(body)
        for begin in (at, *(offset + i + 1 for i, char in enumerate(line) if char == ":")):
            rest = text[begin:].lstrip(" \t")
            if _first_word(rest[:200]) in _QUERY_STARTS and rest[:1] not in "-#/" and not _is_prose_with(rest):
                parens = len(line) - len(line.lstrip(" \t")) if begin == at else 0
                return offset + parens if begin == at else len(text) - len(rest)
        offset += len(line)
    return None


def _without_tail(text: str) -> str:
    """Cut prose after the statement; never cut what could be another statement."""
    try:
        tokens = [token for token in tokenize(text) if token.kind != "comment"]
    except LexError as error:
        # An apostrophe in the prose opens a literal that is never closed: look at the part before it.
        try:
            tokens = [token for token in tokenize(text[: error.offset]) if token.kind != "comment"]
        except LexError:
            return _cut_paragraphs(text)
    for index, token in enumerate(tokens):
        if token.text == ";":
            following = [later for later in tokens[index + 1 :] if later.text != ";"]
            if following and not _may_be_statement(following):
                return text[: token.start].rstrip()
            return text
    return _cut_paragraphs(text)


def _cut_paragraphs(text: str) -> str:
    end = len(text)
    at = text.find("\n\n")
    while at >= 0:
        head, tail = text[:at], text[at:].lstrip()
        if _looks_like_prose(tail) and _is_whole(head):
            end = at
            break
        at = text.find("\n\n", at + 2)
    return text[:end].rstrip()


def _may_be_statement(tokens: list[Token]) -> bool:
    # Prose begins with several words, the first of them not in capitals and not one of SQL's.
    first = tokens[0]
    if len(tokens) < 3 or any(token.kind != "word" for token in tokens[:3]):
        return True
    return (
        first.upper in STATEMENT_WORDS or first.upper in _QUERY_STARTS or (first.text.isupper() and len(first.text) > 1)
    )


def _looks_like_prose(text: str) -> bool:
    words = text.split(None, 4)
    if len(words) < 3 or not words[0][:1].isalpha() or words[0].upper() in STATEMENT_WORDS:
        return words[:1] != [] and words[0][:1] in "*>#" and not text.startswith(("/*", "*/"))
    return words[0].upper() not in _CONTINUATIONS and words[0].rstrip(":,").isalpha()


def _is_whole(text: str) -> bool:
    """Whether a text could end here: brackets closed, and no operator or comma at its end."""
    try:
        tokens = [token for token in tokenize(text) if token.kind != "comment"]
    except LexError:
        return False
    depth = sum((token.text == "(") - (token.text == ")") for token in tokens)
    return bool(tokens) and depth == 0 and (tokens[-1].kind != "op" or tokens[-1].text in ");*]")


def _without_semicolon(text: str) -> str:
    text = text.strip()
    while text.endswith(";"):
        text = text[:-1].rstrip()
    return text
