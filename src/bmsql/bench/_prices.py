"""What a question costs, from prices that the user gives; none are built in, as they change."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from bmsql.bench._files import invalid, open_text
from bmsql.errors import BenchmarkFileError
from bmsql.types import Frozen, Usage

_MILLION, _TEBIBYTE = 1e6, 1024**4


class ModelPrice(Frozen):
    """US dollars per million tokens; `cached` prompt tokens cost as much as others where it is not given."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)


class Prices(Frozen):
    """Prices by model name, and of a TiB of bytes billed, in US dollars."""

    models: dict[str, ModelPrice] = Field(default_factory=dict)
    tebibyte: float | None = Field(default=None, ge=0)

    def cost(self, model: str, usage: Usage, bytes_billed: int | None) -> float | None:
        """The cost of an answer; None where something was used that has no price here."""
        total = 0.0
        if any(step.calls for step in usage.steps):
            price = self.models.get(model)
            if price is None:
                return None
            cached_price = price.prompt if price.cached is None else price.cached
            for step in usage.steps:
                fresh = step.prompt_tokens - step.cached_tokens
                total += fresh * price.prompt + step.cached_tokens * cached_price
                total += step.completion_tokens * price.completion
            total /= _MILLION
        if bytes_billed:
            if self.tebibyte is None:
                return None
            total += bytes_billed / _TEBIBYTE * self.tebibyte
        return total


def read_prices(path: Path) -> Prices:
    """Prices from YAML, such as `models: {"openai:NAME": {prompt: 1.1, completion: 4.4}}` and `tebibyte: 6.25`.

    Raises BenchmarkFileError.
    """
    try:
        data = yaml.safe_load("".join(open_text(path)))
        return Prices.model_validate({} if data is None else data)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise BenchmarkFileError(
            f"this is no YAML: {getattr(error, 'problem', None) or error}.",
            file=str(path),
            line=mark.line + 1 if mark else None,
            remedy="Correct the file.",
        ) from error
    except ValidationError as error:
        raise invalid(error, path, None) from error
