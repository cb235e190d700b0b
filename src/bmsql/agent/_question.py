"""What counts as a question."""

from __future__ import annotations

from bmsql.errors import InvalidSqlError, QuestionError

MAX_CHARACTERS = 4000


def checked_question(question: object) -> str:
    """`question` without blanks around it.

    Raises QuestionError when it is no text, empty, too long, or holds no valid characters.
    """
    if not isinstance(question, str):
        raise QuestionError(
            f"A question is a text, not {type(question).__name__}.", remedy="Give the question as a string."
        )
    text = question.replace("\x00", " ").strip()
    if not text:
        raise QuestionError("The question is empty.", remedy='Ask something, such as "Which drugs target DRD2?"')
    if len(text) > MAX_CHARACTERS:
        raise QuestionError(
            f"The question has {len(text)} characters; at most {MAX_CHARACTERS} are read.",
            remedy="Shorten it, or ask in several questions.",
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise QuestionError("The question holds bytes that are no UTF-8 text.", remedy="Send it in UTF-8.") from error
    return text


def checked_sql(sql: object) -> str:
    """The SQL as given. Raises InvalidSqlError for what is no text."""
    if not isinstance(sql, str):
        raise InvalidSqlError(f"SQL is a text, not {type(sql).__name__}.", remedy="Give the query as a string.")
    return sql
