#!/usr/bin/env bash
# Builds `disk.c`, which a process preloads, as that file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cc -shared -fPIC -O2 -o "$1" tests/attack/disk.c -ldl -lpthread
