"""String functions whose arguments decide how DuckDB must be asked."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.dialects.bigquery import BigQuery

from bmsql.sql.duckdb._conditions import require_strings
from bmsql.sql.duckdb._kinds import TYPES, is_string, kind, source, unsupported
from bmsql.sql.duckdb._tables import INITCAP, TEXT_TRIM
from bmsql.sql.duckdb._template import Template, template

_ERROR = "{fail:negative length}"


def number(node: exp.Expr | None) -> int | None:
    """The value of an integer literal; None for anything else."""
    if isinstance(node, exp.Neg):
        inner = number(node.this)
        return None if inner is None else -inner
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).lstrip("-").isdigit():
        return int(node.this)
    return None


def int_literal(value: int) -> exp.Literal:
    """An integer literal with its type."""
    made = exp.Literal(this=str(value), is_string=False)
    made.type = TYPES["I"]
    return made


def never_null(made: Template) -> Template:
    """Mark an array whose elements are never NULL."""
    made.set("never_null", True)
    return made


def substring(node: exp.Expr) -> exp.Expr:
    """Position 0 is 1, one before the start is the start, a negative length an error."""
    this, start, length = node.this, node.args["start"], node.args.get("length")
    if kind(this) not in "S0?":
        raise unsupported(f"SUBSTR of BYTES is not translated: {source(node)}")
    at = number(start)
    if at is not None and at >= 0:
        begin, operands = str(max(at, 1)), {}
    else:
        operands = {"s": start}
        begin = "CASE WHEN {s!r} = 0 OR {s!r} < -length({x}) THEN 1 ELSE {s!r} END"
    if length is None:
        return template(f"substring({{x}}, {begin})", "S", x=this, **operands)
    size = number(length)
    if size is not None and size >= 0:
        return template(f"substring({{x}}, {begin}, {size})", "S", x=this, **operands)
    text = f"CASE WHEN {{n!r}} < 0 THEN {_ERROR} ELSE substring({{x}}, {begin}, {{n!r}}) END"
    return template(text, "S", x=this, n=length, **operands)


def pad(node: exp.Expr) -> exp.Expr:
    """LPAD and RPAD cut what is too long; an empty pattern is an error."""
    name = "lpad" if node.args.get("is_left") else "rpad"
    fill = node.args.get("fill_pattern") or exp.Literal.string(" ")
    require_strings(node, node.this, fill)
    return template(
        f"CASE WHEN {{n!r}} < 0 THEN {_ERROR} WHEN {{f}} = '' THEN {{fail:empty pad pattern}} "
        f"ELSE {name}({{x}}, CAST({{n!r}} AS INTEGER), {{f}}) END",
        "S", x=node.this, n=node.expression, f=fill,
    )  # fmt: skip


def trim(node: exp.Expr) -> exp.Expr:
    """TRIM, LTRIM, RTRIM."""
    position = str(node.args.get("position") or "").upper()
    if node.expression is None:
        require_strings(node, node.this)
        return template(TEXT_TRIM[position], "S", this=node.this)
    require_strings(node, node.this, node.expression)
    name = {"": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[position]
    return template(f"{name}({{x}}, {{c}})", "S", x=node.this, c=node.expression)


def position(node: exp.Expr) -> exp.Expr:
    """STRPOS, and INSTR with its start and occurrence; overlapping finds count."""
    this, part, start, nth = node.this, node.args["substr"], node.args.get("position"), node.args.get("occurrence")
    require_strings(node, this, part)
    if start is None and nth is None:
        return template("instr({x}, {p})", "I", x=this, p=part)
    at, count = (number(start) if start is not None else 1), (number(nth) if nth is not None else 1)
    if not at or not count or count < 1:
        raise unsupported("INSTR is translated for a literal position (not 0) and occurrence only")
    if at > 0:
        places = f"range({at}, length({{x}}) - length({{p}}) + 2)"
    else:
        places = f"list_reverse(range(1, least(length({{x}}) - length({{p}}), length({{x}}) + ({at})) + 2))"
    found = f"list_filter({places}, lambda i: substring({{x}}, i, length({{p}})) = {{p}})[{count}]"
    return template(
        f"CASE WHEN {{x}} IS NULL OR {{p}} IS NULL THEN NULL ELSE COALESCE({found}, 0) END", "I", x=this, p=part
    )


def split(node: exp.Expr) -> exp.Expr:
    """SPLIT: an empty text gives one empty item, an empty separator the characters."""
    this, separator = node.this, node.expression
    require_strings(node, this, separator)
    if is_string(separator):
        if separator.this:
            return never_null(template("string_split({x}, {s})", x=this, s=separator))
        return never_null(template("CASE WHEN {x} = '' THEN [''] ELSE regexp_extract_all({x}, '(?s).') END", x=this))
    made = template(
        "CASE WHEN {s} IS NULL THEN NULL WHEN {x} = '' THEN [''] "
        "WHEN {s} = '' THEN regexp_extract_all({x}, '(?s).') ELSE string_split({x}, {s}) END",
        x=this,
        s=separator,
    )
    return never_null(made)


def change_case(node: exp.Expr) -> exp.Expr | None:
    """UPPER and LOWER agree letter by letter; a literal letter that becomes two is refused, save the German sharp s."""
    if is_string(node.this):
        text = node.this.this.replace("ß", "")
        changed = text.upper() if isinstance(node, exp.Upper) else text.lower()
        if len(changed) != len(text):
            raise unsupported(f"DuckDB changes the case of some letters otherwise than BigQuery: {source(node)}")
    return None


def translate(node: exp.Expr) -> exp.Expr:
    """TRANSLATE: a doubled source character is an error."""
    letters, target = node.args["from_"], node.args["to"]
    if not is_string(letters):
        raise unsupported("TRANSLATE is translated for literal characters only")
    if len(set(letters.this)) != len(letters.this):
        raise unsupported("BigQuery refuses a character that stands twice in TRANSLATE's source")
    return template("translate({x}, {a}, {b})", "S", x=node.this, a=letters, b=target)


def contains(node: exp.Expr) -> exp.Expr:
    """CONTAINS_SUBSTR of a STRING: case-folded; BigQuery also normalises, which ASCII does not need."""
    what = node.expression
    inner = what.args["expressions"][0] if isinstance(what, Template) else what
    if kind(node.this) != "S" or not is_string(inner) or not inner.this.isascii() or not inner.this:
        raise unsupported(
            "CONTAINS_SUBSTR is translated for a STRING and an ASCII literal only", "Use LOWER(x) LIKE '%...%'."
        )
    return template("contains({x}, {p})", "O", x=node.this, p=what)


def normalize(node: exp.Expr) -> exp.Expr:
    """NORMALIZE to NFC, the form that DuckDB has."""
    form = node.args.get("form")
    if node.args.get("is_casefold") or (form and str(getattr(form, "name", form)).upper() != "NFC"):
        raise unsupported("DuckDB normalises Unicode to NFC only")
    require_strings(node, node.this)
    return template("nfc_normalize({x})", "S", x=node.this)


def initcap(node: exp.Expr) -> exp.Expr:
    """INITCAP with its usual delimiters, which sqlglot writes out."""
    require_strings(node, node.this)
    delimiters = node.args.get("expression")
    if delimiters is not None and delimiters.name != BigQuery.INITCAP_DEFAULT_DELIMITER_CHARS:
        raise unsupported("INITCAP is translated with its usual delimiters only")
    return template(INITCAP, "S", this=node.this)


def sha2(node: exp.Expr) -> exp.Expr:
    """SHA256; DuckDB has no SHA512."""
    if number(node.args.get("length")) not in (None, 256) or kind(node.this) not in "SB":
        raise unsupported("DuckDB has SHA256, not SHA512", "Use SHA256.")
    if isinstance(node, exp.SHA2Digest):
        return template("unhex(sha256({x}))", "B", x=node.this)
    return template("sha256({x})", "S", x=node.this)


RULES = (
    (exp.Substring, substring), (exp.Pad, pad), (exp.Trim, trim), (exp.StrPosition, position), (exp.Split, split),
    (exp.Translate, translate), (exp.Contains, contains), (exp.Normalize, normalize), (exp.SHA2, sha2),
    (exp.Initcap, initcap), (exp.Lower, change_case), (exp.Upper, change_case),
    (exp.SHA2Digest, sha2),
)  # fmt: skip
