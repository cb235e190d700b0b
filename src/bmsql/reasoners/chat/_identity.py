"""Which model it is: its name for the user, and its identity for what is remembered of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# Where LangChain traces a provider under another name than the one that it is opened by.
_PROVIDERS = {"azure": "azure_openai"}
# Where the integrations keep the name and the address of the server.
_NAMES = ("model_name", "model", "model_id", "deployment_name", "azure_deployment")
_ADDRESSES = ("openai_api_base", "azure_endpoint", "base_url", "endpoint_url", "endpoint", "anthropic_api_url")


class Identity(NamedTuple):
    """Class, model name and server of a model: what is true of one is true of its equals."""

    kind: str
    model: str
    server: str

    @classmethod
    def of(cls, model: BaseChatModel) -> Identity:
        """The identity of a model instance."""
        kind = f"{type(model).__module__}.{type(model).__qualname__}"
        # OpenAI's SDK reads the address from a variable itself, and alone knows it then.
        clients: list[Any] = [getattr(model, name, None) for name in ("root_client", "root_async_client")]
        address = next((str(client.base_url) for client in clients if hasattr(client, "base_url")), "")
        return cls(kind, _first(model, _NAMES), address or _first(model, _ADDRESSES))


def display_name(model: BaseChatModel) -> str:
    """The model as the user names it, such as `openai:NAME`."""
    provider = str(model._get_ls_params().get("ls_provider") or model._llm_type)  # noqa: SLF001 - LangChain's own word
    provider = _PROVIDERS.get(provider, provider)
    return f"{provider}:{name}" if (name := _first(model, _NAMES)) else provider


def _first(model: BaseChatModel, fields: tuple[str, ...]) -> str:
    values = (getattr(model, field, None) for field in fields)
    return next((str(value) for value in values if value), "")
