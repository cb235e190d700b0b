"""A chat model from what the user names: a `provider:name` string or an instance of their own."""

from __future__ import annotations

import importlib.util
import os
import re
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bmsql.errors import ConfigurationError, CredentialsError, MissingDependencyError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_EXTRAS = {"openai": "openai", "azure_openai": "openai", "google_genai": "google"}
# Providers whose integration package can be checked for before anything is imported.
_PACKAGES = {"openai": "langchain_openai", "azure_openai": "langchain_openai", "google_genai": "langchain_google_genai"}
# The variables that hold the key, the first of them the usual one.
_KEYS = {
    "openai": ("OPENAI_API_KEY",),
    "azure_openai": ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "OPENAI_API_KEY"),
    "google_genai": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "mistralai": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
}
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_MISSING = re.compile(r"api[ _-]?key|credential|token", re.IGNORECASE)


def open_chat_model(model: str | BaseChatModel, *, timeout: float) -> BaseChatModel:
    """The chat model that `model` names, or the instance itself.

    `provider:name` is what LangChain's `init_chat_model` understands, such as `openai:NAME`; servers
    of one's own are reached through the provider's variable, such as OPENAI_BASE_URL. `timeout` is
    in seconds for one call. Nothing is sent.

    Raises ConfigurationError for a name without a provider or a provider that is unknown,
    MissingDependencyError, CredentialsError.
    """
    if not isinstance(model, str):
        return _check_instance(model)
    provider, separator, name = (part.strip() for part in model.partition(":"))
    provider = provider.replace("-", "_").lower()
    if not (separator and provider and name):
        raise ConfigurationError(
            f"the model '{model}' names no provider.",
            remedy="Write 'provider:name', such as 'openai:NAME' or 'google_genai:NAME'.",
        )
    return _init(provider, name, timeout)


def _check_instance(model: Any) -> BaseChatModel:
    from langchain_core.language_models import BaseChatModel

    if isinstance(model, BaseChatModel):
        return model
    raise ConfigurationError(
        f"an object of type {type(model).__name__} is not a LangChain chat model.",
        remedy="Give a 'provider:name' string or an instance of a LangChain chat model.",
    )


def _init(provider: str, name: str, timeout: float) -> BaseChatModel:
    _need(provider, "langchain")
    from langchain.chat_models import init_chat_model

    # Gemini counts attempts, not retries; Ollama knows neither retries nor, as such, a timeout.
    options: dict[str, Any] = {"timeout": timeout, "max_retries": 1 if provider == "google_genai" else 0}
    if provider == "ollama":
        options = {"client_kwargs": {"timeout": timeout}}
    if provider in {"openai", "azure_openai"}:
        options["stream_usage"] = True
        # A server of one's own often wants no key, but the SDK wants one to send.
        if provider == "openai" and _own_server() and not os.environ.get("OPENAI_API_KEY"):
            options["api_key"] = "none"
    if provider in _PACKAGES:
        _need(provider, _PACKAGES[provider])
    try:
        made: BaseChatModel = init_chat_model(name, model_provider=provider, **options)
    except ImportError as e:
        raise _missing(provider, str(e)) from e
    except Exception as e:
        raise _refused(provider, name, e) from e
    return made


def _own_server() -> bool:
    return any(os.environ.get(name) for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"))


def _need(provider: str, module: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise _missing(provider, f"{module} is not installed")


def _missing(provider: str, why: str) -> MissingDependencyError:
    extra = _EXTRAS.get(provider)
    named = re.search(r"pip install [\w \"'>=<.\[\],-]*[\w\"'\]]", why)
    remedy = (
        f"Install it with: pip install 'bmsql[{extra}]'"
        if extra
        else f"Install langchain and the provider's package{f': {named[0]}' if named else '.'}"
    )
    return MissingDependencyError(f"the packages for models of '{provider}' are not installed.", remedy=remedy)


def _refused(provider: str, name: str, error: Exception) -> ConfigurationError:
    """What LangChain or the provider's class says when a model cannot be made."""
    text = _reason(error)
    if "nsupported" in text and "provider" in text:
        return ConfigurationError(
            f"there is no provider '{provider}'.",
            remedy="Use one that LangChain knows, such as 'openai', 'azure_openai', 'google_genai' or 'ollama'.",
        )
    keys = _KEYS.get(provider, ())
    unset = bool(keys) and not any(os.environ.get(key) for key in keys)
    if _MISSING.search(text) and (unset or not keys):
        variable = keys[0] if keys else next(iter(_VARIABLE.findall(text)), "the provider's key variable")
        return CredentialsError(f"there is no key for '{provider}:{name}'.", remedy=f"Set {variable}.")
    return ConfigurationError(
        f"the model '{provider}:{name}' cannot be made: {text[:300]}",
        remedy=f"Set {named[0]}." if (named := _VARIABLE.findall(text)) else "Check its name and the options.",
    )


def _reason(error: Exception) -> str:
    """What an error says, without the frame that pydantic puts around it."""
    if isinstance(error, ValidationError):
        return "; ".join(problem["msg"].removeprefix("Value error, ") for problem in error.errors())
    return " ".join(str(error).split())
