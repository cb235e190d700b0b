"""Prompt files: read once, rendered with exactly the values that they name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

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

    @property
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

        def fill(text: str) -> str:
            # A line that holds nothing but an empty value is left out.
            lines = []
            for line in text.strip().splitlines():
                filled = _PLACE.sub(lambda match: values[match[1]], line)
                if filled.strip() or not line.strip():
                    lines.append(filled)
            return "\n".join(lines)

        return fill(self.system), fill(self.user)


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
