"""A lock between processes that the operating system releases when its holder dies."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL = 0.05
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
# File systems without locks, such as some network mounts.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def file_lock(path: Path, *, seconds: float) -> Iterator[bool]:
    """Hold an exclusive lock on `path`, which is created when missing and never removed.

    Yields True with the lock held, False where the file system has no locks. Raises TimeoutError
    when another process keeps it for longer than `seconds`, OSError when the file cannot be opened.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        deadline = time.monotonic() + seconds
        while True:
            try:
                _acquire(handle)
                locked = True
                break
            except OSError as e:
                if e.errno in _NO_LOCKS:
                    locked = False
                    break
                if e.errno not in _BUSY:
                    raise
                if time.monotonic() >= deadline:
                    raise TimeoutError(f"{path} stayed locked by another process for {seconds:g} s") from e
                time.sleep(_POLL)
        try:
            yield locked
        finally:
            if locked:
                _release(handle)
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _acquire(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _release(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _acquire(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _release(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
