"""What a question costs, from prices that the user gives; none are built in, as they change."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import Field, ValidationError

from bmsql.bench._files import invalid, no_yaml, open_text
from bmsql.types import TIB, Frozen, Usage

_MILLION = 1e6


class ModelPrice(Frozen):
    """US dollars per million tokens; `cached` prompt tokens cost as much as others where it is not given."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)


class Prices(Frozen):
    """Prices by model name, and of a TiB of bytes billed, in US dollars.

    Without a price of bytes that which the backend tells of its queries is taken.
    """

    models: dict[str, ModelPrice] = Field(default_factory=dict)
    tebibyte: float | None = Field(default=None, ge=0)

    def cost(self, model: str, usage: Usage) -> float | None:
        """The cost of an answer; None where something was used that has no price here."""
        parts = (self._of_model(model, usage), self._of_queries(usage))
        return None if None in parts else sum(part for part in parts if part is not None)

    def _of_model(self, model: str, usage: Usage) -> float | None:
        if not any(step.calls for step in usage.steps):
            return 0.0
        price = self.models.get(model)
        if price is None:
            return None
        cached_price = price.prompt if price.cached is None else price.cached
        total = 0.0
        for step in usage.steps:
            total += (step.prompt_tokens - step.cached_tokens) * price.prompt
            total += step.cached_tokens * cached_price + step.completion_tokens * price.completion
        return total / _MILLION

    def _of_queries(self, usage: Usage) -> float | None:
        billed = bytes_billed(usage)
        if billed and self.tebibyte is not None:
            return billed / TIB * self.tebibyte
        if usage.cost is not None:
            return usage.cost
        return None if billed else 0.0


def bytes_billed(usage: Usage) -> int | None:
    """The bytes that an answer's queries are billed for; those processed where the backend tells no more."""
    return usage.bytes_processed if usage.bytes_billed is None else usage.bytes_billed


def read_prices(path: Path) -> Prices:
    """Prices from YAML, such as `models: {"openai:NAME": {prompt: 1.1, completion: 4.4}}` and `tebibyte: 6.25`.

    Raises BenchmarkFileError.
    """
    try:
        data = yaml.safe_load("".join(open_text(path)))
        return Prices.model_validate({} if data is None else data)
    except yaml.YAMLError as error:
        raise no_yaml(error, path) from error
    except ValidationError as error:
        raise invalid(error, path, None) from error
