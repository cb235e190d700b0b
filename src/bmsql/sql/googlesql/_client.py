"""The analyser's WebAssembly module in this process, compiled once and kept in a cache."""

from __future__ import annotations

import contextlib
import ctypes
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bmsql.errors import MissingDependencyError


def open_client(cache: Path) -> Any:
    """A client of the module; compiling takes most of a minute, reading what was compiled 0.2 s.

    Raises:
        MissingDependencyError: the extra is not installed.
    """
    try:
        import wasmtime
        from zetasql.core.wasm_client import WasmClient, get_tzinfo_dir
        from zetasql.wasi import get_wasm_path
    except ImportError as e:
        raise MissingDependencyError(
            "GoogleSQL's analyser is not installed.", remedy="Install it: pip install 'bmsql[googlesql]'."
        ) from e

    class Client(WasmClient):  # type: ignore[misc]  # the package has no types
        """The package's client, with a compiled module and with memory copied in one piece."""

        def __init__(self) -> None:
            engine = _engine(wasmtime)
            self.store = wasmtime.Store(engine)
            settings = wasmtime.WasiConfig()
            if zones := get_tzinfo_dir():
                settings.preopen_dir(zones, "/usr/share/zoneinfo")
            self.store.set_wasi(settings)
            self.module = _compiled(wasmtime, engine, Path(get_wasm_path()), cache)
            linker = wasmtime.Linker(engine)
            linker.define_wasi()
            self.instance = linker.instantiate(self.store, self.module)
            self.exports = self.instance.exports(self.store)
            self.exports["_initialize"](self.store)
            self.memory = self.exports["memory"]

        def write_bytes(self, ptr: int, data: bytes) -> None:
            ctypes.memmove(self._start() + ptr, data, len(data))

        def read_bytes(self, ptr: int, size: int) -> bytes:
            return ctypes.string_at(self._start() + ptr, size)

        def _start(self) -> int:
            # The memory may have moved since the last call.
            return ctypes.addressof(self.memory.data_ptr().contents)

    return Client()


def _engine(wasmtime: Any) -> Any:
    config = wasmtime.Config()
    with contextlib.suppress(AttributeError):  # not in every release, and then on by itself
        config.shared_memory = True
    return wasmtime.Engine(config)


def _compiled(wasmtime: Any, engine: Any, source: Path, cache: Path) -> Any:
    """The compiled module of this release of the runtime and of the port, from the cache where it is there."""
    kept = cache / f"googlesql-{version('wasmtime')}-{source.stat().st_size}.cwasm"
    if kept.exists():
        # What another machine compiled, or a write that was cut off, is refused and made again.
        with contextlib.suppress(wasmtime.WasmtimeError):
            return wasmtime.Module.deserialize_file(engine, str(kept))
    module = wasmtime.Module.from_file(engine, str(source))
    # Without a cache that can be written it is compiled each time.
    with contextlib.suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(module.serialize())
        part.replace(kept)
    return module
