"""Running the command: exit codes, errors in one message, pipes that close early."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from bmsql.errors import BackendUnavailableError, BmsqlError, ConfigurationError, QuestionError

ANSWERED, FAILED, USAGE, ABSTAINED, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 130, 141


def main() -> None:
    """Run the command with the arguments of the process, and exit with its code.

    0: done; 1: an error; 2: a wrong option, question, variable or file; 3: the question was not
    answered (an abstention, or a question back).
    """
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command with `arguments`, and return its exit code."""
    flags = list(arguments[: arguments.index("--")]) if "--" in arguments else list(arguments)
    as_json, debug = "--json" in flags, "--debug" in flags
    _write_anything()
    try:
        code = _invoke(arguments, as_json)
        sys.stdout.flush()
    except BmsqlError as error:
        if debug:
            traceback.print_exc()
        return _report(error, as_json)
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone; what is still buffered must not raise again when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:
        # The edge of the program: a defect ends here, in words.
        if debug:
            raise
        return _say(
            "InternalError",
            f"Unexpected error: {type(error).__name__}: {error}",
            "Run the command with --debug to see where, and report it.",
            {},
            as_json,
            FAILED,
        )
    return code


def _invoke(arguments: Sequence[str], as_json: bool) -> int:
    import typer

    from bmsql.cli._app import app

    # Typer's own copy of Click and the real one differ by version; the base is found either way.
    click_error: type[Exception] = typer.BadParameter.__bases__[0].__bases__[0]
    command: Any = typer.main.get_command(app)
    try:
        result = command.main(args=list(arguments), prog_name="bmsql", standalone_mode=False)
    except typer.Exit as exit_:
        return int(exit_.exit_code)
    except typer.Abort as abort:
        raise KeyboardInterrupt from abort
    except click_error as error:
        context: Any = getattr(error, "ctx", None)
        if context is not None and type(error).__name__ == "NoArgsIsHelpError":
            sys.stderr.write(f"{context.get_help()}\n")
            return USAGE
        said: Any = getattr(error, "format_message", None)
        message = str(said() if said else error) or "The command is incomplete."
        name = context.command_path if context is not None else "bmsql"
        return _say("UsageError", message, f"See `{name} --help`.", {}, as_json, USAGE)
    return int(result) if isinstance(result, int) else ANSWERED


def _report(error: BmsqlError, as_json: bool) -> int:
    places = {name: getattr(error, name) for name in ("file", "line", "column", "field") if getattr(error, name, None)}
    wrong_file = isinstance(error, BackendUnavailableError) and bool(error.file)
    code = USAGE if wrong_file or isinstance(error, ConfigurationError | QuestionError) else FAILED
    return _say(type(error).__name__, error.message, error.remedy, places, as_json, code)


def _say(kind: str, message: str, remedy: str, places: dict[str, Any], as_json: bool, code: int) -> int:
    if as_json:
        document = {"error": {"type": kind, "message": message, "remedy": remedy, **places}}
        sys.stdout.write(json.dumps(document) + "\n")
        sys.stdout.flush()
    else:
        from bmsql.types import visible

        sys.stderr.write(visible(f"bmsql: {message}\n" + (f"  {remedy}\n" if remedy else "")))
    return code


def _write_anything() -> None:
    """Let a terminal without Unicode show a stand-in instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
