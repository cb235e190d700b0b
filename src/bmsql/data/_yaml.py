"""YAML by the fast loader, where PyYAML has it."""

from __future__ import annotations

from typing import Any


def safe_yaml(text: str) -> Any:
    """The data of a YAML text; plain types only. Raises `yaml.YAMLError`."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader
