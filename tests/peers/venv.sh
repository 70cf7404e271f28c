#!/usr/bin/env bash
# Makes a virtual environment with packages of PyPI, once, and prints its folder: `venv.sh NAME PACKAGE...`. Needs python3
# with venv and pip. One that was cut off, that holds something else, or that was moved is made anew.
set -euo pipefail

root=$(dirname "${BASH_SOURCE[0]}")/../..
venv=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")/peers/$1
shift
# Written last. Its programs name the folder.
mark="$venv: $*"
if [[ $(cat "$venv/mark" 2>/dev/null) != "$mark" ]]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    # Most of what is installed is never imported, and so need not be compiled.
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-compile --retries 10 "$@" >&2
    echo "$mark" >"$venv/mark"
fi
echo "$venv"
