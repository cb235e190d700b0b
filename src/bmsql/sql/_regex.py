"""A check of constant RE2 patterns: what BigQuery would refuse at run time."""

from __future__ import annotations

_CLASSES = frozenset("AbBdDsSwWzQECaftnrvpPx")
_MOST_REPEATS = 1000


def pattern_problem(pattern: str, *, one_group: bool = False) -> str:
    """What is wrong with an RE2 pattern, or "". `one_group`: the function allows one capturing group."""
    depth = groups = i = 0
    # What a repetition sign would repeat here: nothing, an item, or an item already repeated.
    before = "nothing"
    while i < len(pattern):
        char, problem = pattern[i], ""
        if char in "\\[":
            problem, i = _escape(pattern, i) if char == "\\" else _class(pattern, i)
            before = "item"
        elif char == "(":
            problem, i, kind = _open_group(pattern, i)
            depth += kind != "flags"
            groups += kind == "capture"
            before = "nothing"
        elif char in "*+?" or (char == "{" and _repetition(pattern, i)):
            problem, i = _repeat(pattern, i, before)
            before = "repeated"
        else:
            depth -= char == ")"
            if depth < 0:
                problem = "a closing parenthesis has no opening one"
            before = "nothing" if char == "|" else "item"
            i += 1
        if problem:
            return problem
    if depth:
        return "a parenthesis is not closed"
    if one_group and groups > 1:
        return f"it has {groups} capturing groups where one is allowed; write (?:...) for the others"
    return ""


def _repeat(pattern: str, i: int, before: str) -> tuple[str, int]:
    """After a repetition sign, with the `?` that makes it lazy."""
    char = pattern[i]
    if before == "nothing":
        return f"{char!r} repeats nothing", i
    if before == "repeated":
        return f"a repetition is repeated ({char!r})", i
    end = pattern.index("}", i) if char == "{" else i
    if char == "{":
        numbers = [int(number) for number in pattern[i + 1 : end].split(",") if number]
        if max(numbers) > _MOST_REPEATS or (len(numbers) == 2 and numbers[0] > numbers[1]):
            return f"the repetition {pattern[i : end + 1]} is out of range", i
    return "", end + (2 if pattern[end + 1 : end + 2] == "?" else 1)


def _escape(pattern: str, i: int) -> tuple[str, int]:
    if i + 1 >= len(pattern):
        return "it ends in a backslash", i + 1
    char = pattern[i + 1]
    if char in "123456789":
        return f"the backreference \\{char} is not supported", i
    if char in "pP":
        if pattern[i + 2 : i + 3] == "{":
            end = pattern.find("}", i)
            return ("a {...} is not closed", i) if end < 0 else ("", end + 1)
        return ("", i + 3) if i + 2 < len(pattern) else ("\\p needs a class", i)
    if char == "Q":
        end = pattern.find("\\E", i)
        return "", len(pattern) if end < 0 else end + 2
    if char == "x":
        if pattern[i + 2 : i + 3] == "{":
            end = pattern.find("}", i)
            return ("a {...} is not closed", i) if end < 0 else ("", end + 1)
        return "", i + 4
    if char.isalpha() and char.isascii() and char not in _CLASSES:
        return f"the escape \\{char} is not known", i
    return "", i + 2


def _class(pattern: str, i: int) -> tuple[str, int]:
    start = i
    i += 1
    n = len(pattern)
    if i < n and pattern[i] == "^":
        i += 1
    first = True
    while i < n and (pattern[i] != "]" or first):
        first = False
        if pattern.startswith("[:", i):
            end = pattern.find(":]", i)
            i = end + 2 if end > 0 else i + 1
        elif pattern[i] == "\\":
            problem, after = _escape(pattern, i)
            if problem:
                return problem, i
            i = after
        elif i + 2 < n and pattern[i + 1] == "-" and pattern[i + 2] not in "]\\[":
            if pattern[i] > pattern[i + 2]:
                return f"the range {pattern[i : i + 3]} runs backwards", i
            i += 3
        else:
            i += 1
    if i >= n:
        return f"the class {pattern[start : start + 12]} is not closed", i
    return "", i + 1


def _open_group(pattern: str, i: int) -> tuple[str, int, str]:
    """After an opening parenthesis: problem, next index, and `capture`, `plain` or `flags`."""
    if not pattern.startswith("(?", i):
        return "", i + 1, "capture"
    for look in ("(?=", "(?!", "(?<=", "(?<!"):
        if pattern.startswith(look, i):
            return f"look-around {look}...) is not supported", i, ""
    for other in ("(?>", "(?#", "(?|", "(?&", "(?R", "(?("):
        if pattern.startswith(other, i):
            return f"the group {other}...) is not supported", i, ""
    for named in ("(?P<", "(?<"):
        if pattern.startswith(named, i):
            end = pattern.find(">", i)
            name = pattern[i + len(named) : end] if end > 0 else ""
            if not name or not name.replace("_", "a").isalnum():
                return "the name of a group is wrong", i, ""
            return "", end + 1, "capture"
    j = i + 2
    while j < len(pattern) and pattern[j] in "imsU-":
        j += 1
    if j < len(pattern) and pattern[j] == ":":
        return "", j + 1, "plain"
    if j < len(pattern) and pattern[j] == ")" and j > i + 2:
        return "", j + 1, "flags"
    return f"the group {pattern[i : i + 4]} is not known", i, ""


def _repetition(pattern: str, i: int) -> bool:
    """Whether `{` begins a count; otherwise RE2 takes it as the character."""
    end = pattern.find("}", i)
    if end < 0:
        return False
    low, comma, high = pattern[i + 1 : end].partition(",")
    return low.isdigit() and (not high or high.isdigit()) and (bool(comma) or not high)
