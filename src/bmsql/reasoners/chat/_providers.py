"""Which SDK a model speaks through, without importing any."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


def is_openai(model: BaseChatModel) -> bool:
    """Whether it speaks through the OpenAI SDK (OpenAI, Azure and the many that derive from them)."""
    module = sys.modules.get("langchain_openai.chat_models.base")
    return module is not None and isinstance(model, module.BaseChatOpenAI)


def is_gemini(model: BaseChatModel) -> bool:
    """Whether it speaks through Google's GenAI SDK."""
    module = sys.modules.get("langchain_google_genai.chat_models")
    return module is not None and isinstance(model, module.ChatGoogleGenerativeAI)
