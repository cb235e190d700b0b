"""What of a chat reasoner can be chosen, and switched off to see what it is worth."""

from __future__ import annotations

from pydantic import Field

from bmsql.types import Frozen


class ChatOptions(Frozen):
    """How a chat model is used.

    reading: show the model the deterministic reading of the question, which it may accept; plans: let
    it fill the query plan before it writes SQL; linking: show it the stored values; examples: how many
    example queries a draft is shown; hold_out: leave out examples of the question's own template;
    check_answers: hold each name and number of an answer against the rows; row_tokens: what the rows
    may take of a prompt, in estimated tokens (UTF-8 bytes / 4); schema_tokens: what the tables may
    take before only the likely ones are shown; temperature, max_tokens: of each call, None for the model's own.
    """

    reading: bool = True
    plans: bool = True
    linking: bool = True
    examples: int = Field(default=2, ge=0, le=20)
    hold_out: bool = False
    check_answers: bool = True
    row_tokens: int = Field(default=400, ge=100)
    schema_tokens: int = Field(default=1500, ge=200)
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, gt=0)
