"""The functions known to agree, as data: BigQuery call, argument types, result type, DuckDB text.

One row is `(node, signature, result, text)`. A node is sqlglot's class, or a name where it has none. A
signature lists the arguments with the letters of `_kinds` that each accepts (`n` is INT64 or
FLOAT64, `*` anything, a trailing `...` a list); a date or time accepts a string literal, as of
the first such letter. A result `=x` has the type of the argument x. Several rows of one node are overloads.
"""

from __future__ import annotations

from sqlglot import exp

Row = tuple[type[exp.Expr] | str, str, str, str]

#: What BigQuery's TRIM removes without a second argument; DuckDB's removes spaces only.
_BLANKS = (
    "' \t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000'"
)
_CHARS = "regexp_extract_all({this}, '(?s).')"
#: Each is finite for finite arguments, or BigQuery raises an error.
_FINITE = (
    "CASE WHEN isfinite(CAST({{this}} AS DOUBLE)) AND NOT isfinite({0}) THEN {{fail:floating point error}} ELSE {0} END"
)
_FINITE_2 = (
    "CASE WHEN isfinite(CAST({{this}} AS DOUBLE)) AND isfinite(CAST({{expression}} AS DOUBLE)) AND NOT isfinite({0}) "
    "THEN {{fail:floating point error}} ELSE {0} END"
)


def _finite(call: str, arguments: int = 1) -> str:
    return (_FINITE if arguments == 1 else _FINITE_2).format(call)


def _safe(sum_: str) -> str:
    finite = "isfinite(CAST({this} AS DOUBLE)) AND isfinite(CAST({expression} AS DOUBLE))"
    return f"CASE WHEN {finite} AND isinf({sum_}) THEN NULL ELSE {sum_} END"


STRINGS: tuple[Row, ...] = (
    (exp.Lower, "this:S", "S", "lower({this})"),
    (exp.Upper, "this:S", "S", "upper(replace({this}, 'ß', 'ss'))"),
    (exp.Length, "this:S", "I", "length({this})"),
    (exp.Length, "this:B", "I", "octet_length({this})"),
    (exp.ByteLength, "this:S", "I", "strlen({this})"),
    (exp.ByteLength, "this:B", "I", "octet_length({this})"),
    (exp.Reverse, "this:S", "S", f"array_to_string(list_reverse({_CHARS}), '')"),
    (exp.Replace, "this:S expression:S replacement:S", "S", "replace({this}, {expression}, {replacement})"),
    (exp.Repeat, "this:S times:I", "S",
     "CASE WHEN {times!r} < 0 THEN {fail:REPEAT: negative count} ELSE repeat({this}, {times!r}) END"),
    (exp.Left, "this:S expression:I", "S",
     "CASE WHEN {expression!r} < 0 THEN {fail:LEFT: negative length} ELSE left({this}, {expression!r}) END"),
    (exp.Right, "this:S expression:I", "S",
     "CASE WHEN {expression!r} < 0 THEN {fail:RIGHT: negative length} ELSE right({this}, {expression!r}) END"),
    (exp.StartsWith, "this:S expression:S", "O", "starts_with({this}, {expression})"),
    (exp.EndsWith, "this:S expression:S", "O", "ends_with({this}, {expression})"),
    (exp.Levenshtein, "this:S expression:S", "I", "levenshtein({this}, {expression})"),
    (exp.Levenshtein, "this:S expression:S max_dist:I", "I", "least(levenshtein({this}, {expression}), {max_dist!r})"),
    (exp.Ascii, "this:S", "I",
     "CASE WHEN unicode({this}) > 127 THEN {fail:ASCII: another character} ELSE CAST(ascii({this}) AS BIGINT) END"),
    (exp.Unicode, "this:S", "I", "CAST(CASE WHEN {this} = '' THEN 0 ELSE unicode({this}) END AS BIGINT)"),
    (exp.Chr, "expressions:I", "S", "chr(CAST({expressions} AS INTEGER))"),
    (exp.ToCodePoints, "this:S", "A", f"list_transform({_CHARS}, lambda e: CAST(unicode(e) AS BIGINT))"),
    (exp.CodePointsToString, "this:A", "S",
     ("CASE WHEN list_count({this}) = len({this}) THEN "
      "array_to_string(list_transform({this}, lambda e: chr(CAST(e AS INTEGER))), '') END")),
    (exp.ToBase64, "this:B", "S", "base64({this})"),
    (exp.FromBase64, "this:S", "B", "from_base64({this})"),
    (exp.Unhex, "this:S", "B", "unhex({this})"),
    (exp.LowerHex, "this:B", "S", "lower(hex({this}))"),
    (exp.MD5, "this:SB", "S", "md5({this})"),
    (exp.MD5Digest, "this:SB", "B", "unhex(md5({this}))"),
    (exp.SHA, "this:SB", "S", "sha1({this})"),
    (exp.SHA1Digest, "this:SB", "B", "unhex(sha1({this}))"),
    ("SAFE_CONVERT_BYTES_TO_STRING", "0:B", "S", "TRY(decode({0}))"),
)  # fmt: skip

NUMBERS: tuple[Row, ...] = (
    (exp.Abs, "this:n", "=this", "abs({this})"),
    (exp.Abs, "this:N", "=this", "abs({this})"),
    (exp.Sign, "this:I", "I", "CAST(sign({this}) AS BIGINT)"),
    (exp.Sign, "this:F", "F", "CASE WHEN isnan({this}) THEN {this} ELSE CAST(sign({this}) AS DOUBLE) END"),
    (exp.Ceil, "this:n", "F", "ceil(CAST({this} AS DOUBLE))"),
    (exp.Floor, "this:n", "F", "floor(CAST({this} AS DOUBLE))"),
    (exp.Trunc, "this:n", "F", "trunc(CAST({this} AS DOUBLE))"),
    (exp.Round, "this:n", "F", "round(CAST({this} AS DOUBLE))"),
    (exp.Sqrt, "this:n", "F", "sqrt({this})"),
    (exp.Cbrt, "this:n", "F", "cbrt({this})"),
    (exp.Exp, "this:n", "F", _finite("exp({this})")),
    (exp.Ln, "this:n", "F", "ln({this})"),
    (exp.Log, "this:n", "F", "ln({this})"),
    (exp.Log, "this:n expression:n", "F", _finite("log({this}, {expression})", 2)),
    ("LOG10", "0:n", "F", "log10({0})"),
    (exp.Pow, "this:n expression:n", "F", _finite("pow({this}, {expression})", 2)),
    (exp.Sin, "this:n", "F", "sin({this})"),
    (exp.Cos, "this:n", "F", "cos({this})"),
    (exp.Tan, "this:n", "F", "tan({this})"),
    (exp.Asin, "this:n", "F", "asin({this})"),
    (exp.Acos, "this:n", "F", "acos({this})"),
    (exp.Atan, "this:n", "F", "atan({this})"),
    (exp.Atan2, "this:n expression:n", "F", "atan2({this}, {expression})"),
    (exp.Sinh, "this:n", "F", _finite("sinh({this})")),
    (exp.Cosh, "this:n", "F", _finite("cosh({this})")),
    (exp.Tanh, "this:n", "F", "tanh({this})"),
    (exp.IntDiv, "this:I expression:I", "I", "({this} // {expression})"),
    (exp.Mod, "this:I expression:I", "I", "({this} % {expression})"),
    (exp.SafeDivide, "this:n expression:n", "F",
     ("CASE WHEN {expression} = 0 OR (isinf({this} / {expression}) AND isfinite(CAST({this} AS DOUBLE))) THEN NULL "
      "ELSE {this} / {expression} END")),
    (exp.SafeAdd, "this:I expression:I", "I", "TRY({this} + {expression})"),
    (exp.SafeSubtract, "this:I expression:I", "I", "TRY({this} - {expression})"),
    (exp.SafeMultiply, "this:I expression:I", "I", "TRY({this} * {expression})"),
    (exp.SafeAdd, "this:n expression:n", "F", _safe("{this} + {expression}")),
    (exp.SafeSubtract, "this:n expression:n", "F", _safe("{this} - {expression}")),
    (exp.SafeMultiply, "this:n expression:n", "F", _safe("{this} * {expression}")),
    (exp.SafeNegate, "this:I", "I", "TRY(0 - {this})"),
    (exp.SafeNegate, "this:F", "F", "(-{this})"),
    (exp.IsNan, "this:n", "O", "isnan(CAST({this} AS DOUBLE))"),
    (exp.IsInf, "this:n", "O", "isinf(CAST({this} AS DOUBLE))"),
    (exp.BitwiseAnd, "this:I expression:I", "I", "({this} & {expression})"),
    (exp.BitwiseOr, "this:I expression:I", "I", "({this} | {expression})"),
    (exp.BitwiseXor, "this:I expression:I", "I", "xor({this}, {expression})"),
    (exp.BitwiseNot, "this:I", "I", "(~{this})"),
    (exp.BitwiseCount, "this:I", "I", "CAST(bit_count({this}) AS BIGINT)"),
    # BigQuery shifts 64 unsigned bits: nothing overflows, and a right shift fills with zeros.
    (exp.BitwiseLeftShift, "this:I expression:I", "I",
     ("CASE WHEN {expression!r} < 0 THEN {fail:negative shift} WHEN {expression!r} > 63 THEN 0 "
      "ELSE CAST(CAST({this} AS BIT) << CAST({expression!r} AS INTEGER) AS BIGINT) END")),
    (exp.BitwiseRightShift, "this:I expression:I", "I",
     ("CASE WHEN {expression!r} < 0 THEN {fail:negative shift} WHEN {expression!r} > 63 THEN 0 "
      "ELSE CAST(CAST({this} AS BIT) >> CAST({expression!r} AS INTEGER) AS BIGINT) END")),
    (exp.Rand, "", "F", "random()"),
    (exp.Uuid, "", "S", "CAST(uuid() AS VARCHAR)"),
)  # fmt: skip

TIMES: tuple[Row, ...] = (
    (exp.UnixDate, "this:D", "I", "date_diff('day', DATE '1970-01-01', {this})"),
    (exp.DateFromUnixDate, "this:I", "D", "(DATE '1970-01-01' + CAST({this} AS INTEGER))"),
    (exp.UnixSeconds, "this:T", "I", "CAST(floor(epoch_us({this}) / 1000000) AS BIGINT)"),
    (exp.UnixMillis, "this:T", "I", "CAST(floor(epoch_us({this}) / 1000) AS BIGINT)"),
    (exp.UnixMicros, "this:T", "I", "epoch_us({this})"),
    (exp.UnixToTime, "this:I", "T", "make_timestamptz({this} * 1000000)"),
    (exp.DateFromParts, "year:I month:I day:I", "D", "make_date({year!r}, {month!r}, {day!r})"),
    (exp.TimestampFromParts, "year:I month:I day:I hour:I min:I sec:I", "X",
     "make_timestamp({year!r}, {month!r}, {day!r}, {hour!r}, {min!r}, {sec!r})"),
    (exp.Date, "this:DXT", "D", "CAST({this} AS DATE)"),
    (exp.TsOrDsToDate, "this:DXT", "D", "CAST({this} AS DATE)"),
    (exp.TsOrDsToDatetime, "this:XDT", "X", "CAST({this} AS TIMESTAMP)"),
    (exp.TsOrDsToTimestamp, "this:TDX", "T", "CAST({this} AS TIMESTAMPTZ)"),
    (exp.Timestamp, "this:TDX", "T", "CAST({this} AS TIMESTAMPTZ)"),
    (exp.TsOrDsToTime, "this:XT", "M", "CAST(CAST({this} AS TIMESTAMP) AS TIME)"),
    (exp.CurrentDate, "", "D", "current_date"),
    (exp.CurrentTimestamp, "", "T", "get_current_timestamp()"),
    (exp.CurrentDatetime, "", "X", "CAST(get_current_timestamp() AS TIMESTAMP)"),
)  # fmt: skip

ARRAYS: tuple[Row, ...] = (
    (exp.ArraySize, "this:A", "I", "len({this})"),
    (exp.ArrayReverse, "this:A", "=this", "list_reverse({this})"),
    (exp.ArrayFirst, "this:A", "?",
     "CASE WHEN len({this}) = 0 THEN {fail:ARRAY_FIRST of an empty array} ELSE ({this})[1] END"),
    (exp.ArrayLast, "this:A", "?",
     "CASE WHEN len({this}) = 0 THEN {fail:ARRAY_LAST of an empty array} ELSE ({this})[-1] END"),
    (exp.ArrayToString, "this:A expression:S", "S", "array_to_string({this}, {expression})"),
    (exp.ArrayToString, "this:A expression:S null:S", "S",
     "array_to_string(list_transform({this}, lambda e: COALESCE(e, {null})), {expression})"),
)  # fmt: skip

#: Words begin after these, when INITCAP is given no delimiters of its own.
INITCAP = (
    "array_to_string(list_transform(regexp_extract_all(lower({this}), "
    r"""'(?s)[^\s\[\](){{}}/|<>!?@"^#$&~_,.:;*%+\-]+|.'), lambda e: upper(e[1]) || substring(e, 2)), '')"""
)
TEXT_TRIM = {
    "": f"trim({{this}}, {_BLANKS})", "LEADING": f"ltrim({{this}}, {_BLANKS})",
    "TRAILING": f"rtrim({{this}}, {_BLANKS})",
}  # fmt: skip

AGGREGATES: tuple[Row, ...] = (
    (exp.LogicalAnd, "this:O", "O", "bool_and({this})"),
    (exp.LogicalOr, "this:O", "O", "bool_or({this})"),
    (exp.BitwiseAndAgg, "this:I", "I", "bit_and({this})"),
    (exp.BitwiseOrAgg, "this:I", "I", "bit_or({this})"),
    (exp.BitwiseXorAgg, "this:I", "I", "bit_xor({this})"),
    (exp.Avg, "this:n", "F", "avg({this})"),
    (exp.Stddev, "this:n", "F", "stddev_samp({this})"),
    (exp.StddevSamp, "this:n", "F", "stddev_samp({this})"),
    (exp.StddevPop, "this:n", "F", "stddev_pop({this})"),
    (exp.Variance, "this:n", "F", "var_samp({this})"),
    (exp.VariancePop, "this:n", "F", "var_pop({this})"),
    (exp.CovarPop, "this:n expression:n", "F", "covar_pop({this}, {expression})"),
    (exp.CovarSamp, "this:n expression:n", "F", "covar_samp({this}, {expression})"),
    (exp.ApproxDistinct, "this:*", "I", "count(DISTINCT {this})"),
    (exp.AnyValue, "this:*", "=this", "any_value({this})"),
    (exp.ArrayConcatAgg, "this:A", "=this", "flatten(list({this}) FILTER (WHERE {this} IS NOT NULL))"),
    (exp.ArgMax, "this:* expression:*", "=this", "arg_max_null({this}, {expression})"),
    (exp.Grouping, "expressions:*", "I", "GROUPING({expressions})"),
)  # fmt: skip

ROWS: tuple[Row, ...] = (*STRINGS, *NUMBERS, *TIMES, *ARRAYS)
