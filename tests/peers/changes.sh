#!/usr/bin/env bash
# Asks Python's tools (the compile step of LangGraph, mypy, pyright, ruff) about changes of graphs on which threads wait,
# and lets the threads go on: the table of `docs/changing.md`. Needs python3 with venv and pip; the tools stay in the
# target folder. It runs some minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=$(tests/peers/venv.sh changes 'langgraph==1.2.24' 'mypy==2.4.1' 'pyright==1.1.414' 'ruff==0.17.6')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$venv/bin/python" tests/peers/changes/table.py "$work/graphs"
