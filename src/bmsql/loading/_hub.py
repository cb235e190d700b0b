"""The published tables, fetched from the Hugging Face hub into the loader."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bmsql._version import __version__
from bmsql.errors import BmsqlError, ConfigurationError, CredentialsError, KnowledgeBaseError, MissingDependencyError
from bmsql.loading._files import SUFFIXES, table_of
from bmsql.loading._job import Watch
from bmsql.loading._load import MEMORY_MB, load
from bmsql.loading._report import LoadReport, OnProgress, silent
from bmsql.loading._target import open_target
from bmsql.semantic import SemanticModel, load_semantic_model

REPOSITORY = "NIH-CARD/BiomedSQL"
ENDPOINT_VARIABLE = "HF_ENDPOINT"
_SECONDS = 30.0


@dataclass(frozen=True)
class _HubFile:
    """A file in the repository; `sha256` is empty where the hub does not tell it."""

    name: str
    table: str
    bytes: int
    sha256: str


def pull(
    to: str,
    *,
    repository: str = REPOSITORY,
    revision: str | None = None,
    only: Sequence[str] = (),
    semantic_model: SemanticModel | str | Path | None = None,
    check: bool = True,
    force: bool = False,
    memory_mb: int = MEMORY_MB,
    cache_dir: str | Path | None = None,
    on_progress: OnProgress = silent,
) -> LoadReport:
    """Fetch the published tables of a dataset on the Hugging Face hub and load them into `to`.

    Files are fetched into the hub's own cache (or `cache_dir`), where a fetch that was stopped goes on.
    revision: a branch, tag or commit, the newest by default. only: tables by name; by default those that the
    semantic model knows. Whatever the repository holds beside them is left alone. HF_ENDPOINT and HF_TOKEN
    are respected. For the rest see `load`.

    Raises MissingDependencyError without huggingface_hub, CredentialsError where the hub wants other ones,
    ConfigurationError for a repository, revision or table that is not there, KnowledgeBaseError when the hub
    cannot be reached or a file is not what it says.
    """
    open_target(to, memory_mb=memory_mb)  # what is wrong with it is said before anything is fetched
    model = semantic_model if isinstance(semantic_model, SemanticModel) else load_semantic_model(semantic_model)
    endpoint = os.environ.get(ENDPOINT_VARIABLE, "").rstrip("/") or None
    with _mapped(repository, revision, endpoint):
        commit, files = _listed(repository, revision, endpoint)
        chosen = _chosen(files, only, model, repository)
        paths = _fetched(chosen, repository, commit, endpoint, cache_dir, on_progress)
    return load(
        paths,
        to,
        semantic_model=model,
        check=check,
        source=f"{repository} ({commit[:12]})",
        origin=f"{repository}@{commit}",
        force=force,
        memory_mb=memory_mb,
        on_progress=on_progress,
    )


def _listed(repository: str, revision: str | None, endpoint: str | None) -> tuple[str, list[_HubFile]]:
    """The commit that a revision stands for, and the files of tables in it."""
    from huggingface_hub import HfApi

    api = HfApi(endpoint=endpoint, library_name="bmsql", library_version=__version__)
    info = api.dataset_info(repository, revision=revision, files_metadata=True, timeout=_SECONDS)
    files = []
    for sibling in info.siblings or ():
        table, suffix = table_of(sibling.rfilename)
        if suffix:
            sha256 = str(sibling.lfs["sha256"]) if sibling.lfs else ""
            files.append(_HubFile(sibling.rfilename, table, sibling.size or 0, sha256))
    return str(info.sha), files


def _chosen(files: Sequence[_HubFile], only: Sequence[str], model: SemanticModel, repository: str) -> list[_HubFile]:
    held = {file.table.lower(): file.table for file in files}
    known = {name.lower() for name in model.tables}
    for name in only:
        if name.lower() not in held:
            raise ConfigurationError(
                f"{repository} has no table {name!r}.",
                remedy=f"It has: {', '.join(sorted(held.values()))}." if held else "It has no tables at all.",
            )
    wanted = {name.lower() for name in only} or known & set(held)
    if not wanted:
        raise ConfigurationError(
            f"{repository} has no table that the semantic model {model.name!r} knows.",
            remedy=f"Name tables with --only; it has: {', '.join(sorted(held.values()))}."
            if held
            else f"Tables are files that end in {', '.join(SUFFIXES)}.",
        )
    return [file for file in files if file.table.lower() in wanted]


def _fetched(
    files: Sequence[_HubFile],
    repository: str,
    commit: str,
    endpoint: str | None,
    cache_dir: str | Path | None,
    on_progress: OnProgress,
) -> list[Path]:
    from huggingface_hub import hf_hub_download

    tables = list(dict.fromkeys(file.table for file in files))
    paths = []
    for file in files:
        watch = Watch(file.table, tables.index(file.table) + 1, len(tables), on_progress)
        watch.say("download", 0)
        path = Path(
            hf_hub_download(
                repository,
                file.name,
                repo_type="dataset",
                revision=commit,
                endpoint=endpoint,
                cache_dir=cache_dir,
                etag_timeout=_SECONDS,
                library_name="bmsql",
                library_version=__version__,
                tqdm_class=_bar(watch, file.bytes),
            )
        )
        _verify(path, file)
        watch.say("download", 1)
        paths.append(path)
    return paths


def _verify(path: Path, file: _HubFile) -> None:
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest() if file.sha256 else ""
    if digest != file.sha256:
        # What the hub's cache holds is taken for whole: it would be wrong each time.
        path.resolve().unlink(missing_ok=True)
        raise KnowledgeBaseError(
            f"{file.name} as fetched is damaged: its checksum is not the one that the hub names.",
            remedy="It was removed from the cache: run the command again.",
        )


def _bar(watch: Watch, total: int) -> type[Any]:
    """A silent progress bar that tells `watch` how much of a file has come."""
    from huggingface_hub.utils import tqdm  # type: ignore[attr-defined]

    class Bar(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})  # type: ignore[no-untyped-call]
            self.done = int(options.get("initial") or 0)

        def update(self, n: float | None = 1) -> bool | None:
            self.done += int(n or 0)
            watch.say("download", self.done / total if total else 0)
            return None

    return Bar


@contextmanager
def _mapped(repository: str, revision: str | None, endpoint: str | None) -> Iterator[None]:
    """The hub's errors as those of bmsql."""
    try:
        from huggingface_hub import errors
    except ImportError as e:
        raise MissingDependencyError(
            "huggingface_hub is not installed.", remedy="Install it: pip install 'bmsql[hub]'."
        ) from e
    where = endpoint or "the Hugging Face hub"
    try:
        yield
    except BmsqlError:
        raise
    except errors.GatedRepoError as e:
        raise CredentialsError(
            f"{repository} is open only to those who accepted its terms.",
            remedy="Accept them on its page, and set HF_TOKEN to a token of that account.",
        ) from e
    except errors.RevisionNotFoundError as e:
        raise ConfigurationError(
            f"{repository} has no revision {revision!r}.", remedy="Give a branch, a tag or a whole commit id."
        ) from e
    except errors.RepositoryNotFoundError as e:
        raise ConfigurationError(
            f"There is no dataset {repository} on {where}, or it is private.",
            remedy="Check its name; for a private one set HF_TOKEN.",
        ) from e
    except errors.HFValidationError as e:
        raise ConfigurationError(f"{repository!r} is no name of a dataset: {e}", remedy="Write owner/name.") from e
    except errors.OfflineModeIsEnabled as e:
        raise KnowledgeBaseError(
            "The Hugging Face hub is switched off by HF_HUB_OFFLINE.",
            remedy="Unset it; or load files that you have with `bmsql kb load`.",
        ) from e
    except errors.HfHubHTTPError as e:
        status = e.response.status_code
        kind = CredentialsError if status in (401, 403) else KnowledgeBaseError
        raise kind(
            f"{where} answered with status {status} for {repository}.",
            remedy="Check HF_TOKEN." if kind is CredentialsError else "Try again later: it goes on where it was.",
        ) from e
    except (
        # Of the HTTP library that this version of the hub's client uses.
        errors.HTTPError,  # type: ignore[attr-defined]
        errors.LocalEntryNotFoundError,
        errors.FileMetadataError,
        ConnectionError,
    ) as e:
        raise KnowledgeBaseError(
            f"{where} cannot be reached: {str(e).splitlines()[0] if str(e) else type(e).__name__}",
            remedy="Check the connection and HF_ENDPOINT, and run the command again: it goes on where it was.",
        ) from e
    except OSError as e:
        raise KnowledgeBaseError(
            f"The files cannot be stored: {e}", remedy="Free some space, or set HF_HOME to another place."
        ) from e
