"""stand-in"""


def render_rows(result, plan, model, *, tokens, total=None):
    lines = ["\t".join(result.names())] + ["\t".join(map(str, r)) for r in result.rows]
    return "ROWS (data)\n" + "\n".join(lines)[: tokens * 4]
