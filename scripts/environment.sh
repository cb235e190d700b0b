#!/bin/sh
# Make .venv ready: `sh scripts/environment.sh run` to ask questions, `... dev` to test and build as well.
#
# PYTHON picks the interpreter for a new .venv, UV=1 installs with uv. Everything is said on stderr, so
# that the output of what runs next stays clean. A stamp file, holding the checkout's path, is written last.
set -eu
cd "$(dirname "$0")/.."
kind=$1
venv=.venv
wanted='Python 3.11, 3.12 or 3.13'

# Settings of the user's own that would send the installation elsewhere.
unset PYTHONPATH PYTHONHOME VIRTUAL_ENV CONDA_PREFIX PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV

say() {
    printf '%s\n' "$*" >&2
}

with_uv() {
    [ "${UV:-}" = 1 ]
}

version() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

is_supported() {
    case "$(version "$1")" in 3.11 | 3.12 | 3.13) return 0 ;; esac
    return 1
}

can_make_venv() {
    with_uv || "$1" -c 'import ensurepip, venv' 2>/dev/null
}

# Set `python`, or explain what was found instead and stop. A name may exist and yet not run (a version
# manager's shim), so each candidate is run.
find_python() {
    seen=''
    if [ -n "${PYTHON:-}" ]; then
        set -- "$PYTHON"
    else
        set -- python3.13 python3.12 python3.11 python3 python
    fi
    for python in "$@"; do
        found=$(version "$python") || continue
        if ! is_supported "$python"; then
            seen="$seen
  $python is Python $found"
        elif ! can_make_venv "$python"; then
            seen="$seen
  $python is Python $found without the venv module (on Debian and Ubuntu: apt-get install python$found-venv)"
        else
            return 0
        fi
    done
    say "bmsql needs $wanted. Looked for: $*"
    say "Found:${seen:- none of them}"
    say 'Install one of them, or name it: make PYTHON=/path/to/python3.12 ...'
    exit 1
}

if with_uv && ! command -v uv >/dev/null 2>&1; then
    say 'UV=1 asks for uv, which is not installed; leave UV out to install with pip.'
    exit 1
fi

if ! is_supported "$venv/bin/python"; then
    find_python
    say "Preparing $venv with $("$python" --version 2>&1); this is done once and takes a minute or so."
    if with_uv; then
        rm -rf "$venv"
        uv venv --quiet --seed --python "$(command -v "$python")" "$venv" >&2
    else
        "$python" -m venv --clear "$venv" >&2
    fi
else
    say "Installing what changed into $venv."
fi

rm -f "$venv/.run-ready" "$venv/.dev-ready"
case "$kind" in
run) what='.[fast]' ;;
dev) what='.[dev]' ;;
*)
    say "usage: sh $0 run|dev"
    exit 2
    ;;
esac
if with_uv; then
    uv pip install --quiet --python "$venv/bin/python" -e "$what" >&2
else
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$venv/bin/python" -m ensurepip >&2
    # A pip of the age of the interpreter takes twice as long as a current one; where there is none to be had, it will do.
    "$venv/bin/python" -m pip install -qq --no-compile --no-input --disable-pip-version-check --upgrade pip >&2 || true
    # Modules compile when first imported; compiling all of them here would add a third to the wait.
    "$venv/bin/python" -m pip install -qq --no-compile --no-input --disable-pip-version-check -e "$what" >&2
fi
# What is enough to test is enough to ask.
[ "$kind" = run ] || pwd -P >"$venv/.dev-ready"
pwd -P >"$venv/.run-ready"
