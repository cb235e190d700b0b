"""Prompt files: read once, rendered with exactly the values that they name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache, cached_property
from importlib.resources import files
from itertools import groupby
from typing import NamedTuple

from bmsql.data import safe_yaml
from bmsql.types import Frozen

# `{{name}}`: braces alone are common in SQL and JSON.
_PLACE = re.compile(r"\{\{(\w+)\}\}")


class Prompt(Frozen):
    """A prompt: what is the same for every question (`system`) and what is not (`user`).

    hash: of both texts, 12 hexadecimal digits. purpose: what it is for, in a sentence.
    """

    name: str
    version: int
    purpose: str
    system: str
    user: str
    hash: str

    @property
    def label(self) -> str:
        """Name, version and hash, as the trace records them."""
        return f"{self.name} v{self.version} {self.hash}"

    @cached_property
    def variables(self) -> frozenset[str]:
        """The values that rendering needs."""
        return frozenset(_PLACE.findall(self.system + self.user))

    def render(self, values: Mapping[str, str]) -> tuple[str, str]:
        """System and user text with the values in their places.

        Raises KeyError for a value that is missing, or that the prompt does not name: both are
        mistakes of the code that renders it. Values are not rendered again, whatever they hold.
        """
        given = set(values)
        if given != self.variables:
            missing, unknown = sorted(self.variables - given), sorted(given - self.variables)
            raise KeyError(f"prompt '{self.name}': missing {missing}, unknown {unknown}")

        return _filled(self._parts[0], values), _filled(self._parts[1], values)

    @cached_property
    def _parts(self) -> tuple[list[_Part], list[_Part]]:
        return _parts(self.system), _parts(self.user)


class _Part(NamedTuple):
    """A line with places in it, or all lines up to the next such one."""

    text: str
    places: bool


def _parts(text: str) -> list[_Part]:
    groups = groupby(text.strip().splitlines(), lambda line: _PLACE.search(line) is not None)
    parts: list[_Part] = []
    for places, lines in groups:
        parts += [_Part(line, places=True) for line in lines] if places else [_Part("\n".join(lines), places=False)]
    return parts


def _filled(parts: list[_Part], values: Mapping[str, str]) -> str:
    """The text with its values; a line that holds nothing but empty values is left out."""
    filled = [_PLACE.sub(lambda match: values[match[1]], one.text) if one.places else one.text for one in parts]
    return "\n".join(text for text, one in zip(filled, parts, strict=True) if text.strip() or not one.places)


@cache
def load_prompt(name: str, package: str = "bmsql.prompts") -> Prompt:
    """The prompt of this name, of the files in `texts` of a package. Raises FileNotFoundError where there is none."""
    text = (files(package) / "texts" / f"{name}.yaml").read_text("utf-8")
    data = safe_yaml(text)
    digest = hashlib.sha256(f"{data['system']}\0{data['user']}".encode()).hexdigest()[:12]
    return Prompt(name=name, hash=digest, **data)


def prompt_names(package: str = "bmsql.prompts") -> tuple[str, ...]:
    """The names of all prompts of a package."""
    folder = files(package) / "texts"
    return tuple(sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml")))
