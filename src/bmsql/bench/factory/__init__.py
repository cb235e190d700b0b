"""A factory of benchmark questions: templates filled from a knowledge base, with gold that was run."""

from bmsql.bench.factory._build import Built, build_questions
from bmsql.bench.factory._templates import Template, TemplateBook, load_templates, shipped_templates

__all__ = [
    "Built",
    "Template",
    "TemplateBook",
    "build_questions",
    "load_templates",
    "shipped_templates",
]
