#!/usr/bin/env bash
# Attacks threads from outside, and says what it finds; the last line is `N cases, M findings`.
#
#     tests/attack/run.sh [--short] [--seed N] [MODE…]
#
# Modes: spy (a saver that acknowledges too early has to be caught: a test of this tool), kill (processes
# are killed), functions (processes with entrypoints and their tasks are killed), agents (processes with deep
# agents on three levels are killed, which stream, ask for approvals, and have limits and a budget), power
# (processes are killed, and what they had not synced is lost or torn),
# stop (PostgreSQL is stopped at once), damage (bytes of files,
# rows of databases), rivals (processes fight for threads), histories
# (a checker of others looks whether what rivals were answered can be that of one thread), faults (calls of savers fail), files (limits, full
# disks, deleted files), fuzz (hostile input to decoders), clocks (leases and times of threads), soak (memory).
# After all modes, or after `stop`, the power of PostgreSQL's disk is cut: as root, where Linux has loop devices.
#
# The short form takes two to three minutes on two cores, and is built without optimization. The long form takes
# about an hour and a half on two cores; name modes to run parts of it. The cases of a seed are the same
# each time, but for the moments at which processes meet. PostgreSQL is started by `tests/servers.sh`;
# as root, a small disk is mounted for the attack on full disks.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

profile=--release
folder=release
for word in "$@"; do
    if [[ $word == --short ]]; then
        profile=
        folder=debug
    fi
done
# A sum that overflows is a finding, also where the program is optimized.
CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true cargo build --quiet -p langgraph-features -p langgraph-attack $profile
program=${CARGO_TARGET_DIR:-target}/$folder/langgraph-attack

# Writes down what processes do to files, so that the loss of power can be played.
ATTACK_DISK_LIBRARY=$(realpath -m "${CARGO_TARGET_DIR:-target}")/$folder/libattack_disk.so
export ATTACK_DISK_LIBRARY
tests/attack/disk.sh "$ATTACK_DISK_LIBRARY"

# A decoder that asks for all memory is a finding, and not the end of other programs.
ulimit -v $((16 * 1024 * 1024)) || true
ulimit -c 0

disk=
cleanup() {
    if [[ -n $disk ]]; then
        umount "$disk" || true
        rmdir "$disk" || true
    fi
}
trap cleanup EXIT
if ((EUID == 0)); then
    disk=$(mktemp -d "${TMPDIR:-/tmp}/langgraph-disk.XXXXXX")
    if mount -t tmpfs -o size=2m tmpfs "$disk" 2>/dev/null; then
        export ATTACK_SMALL_DISK=$disk
    else
        rmdir "$disk"
        disk=
    fi
fi
tests/servers.sh "$program" "$@"

options=()
modes=()
while (($# > 0)); do
    case $1 in
        --short) options+=("$1") ;;
        --seed) options+=("$1" "$2"); shift ;;
        *) modes+=("$1") ;;
    esac
    shift
done
if [[ ${#modes[@]} == 0 || " ${modes[*]} " == *' stop '* ]]; then
    if ((EUID == 0)) && losetup -f >/dev/null 2>&1 && command -v mkfs.ext4 >/dev/null; then
        env -u DATABASE_URL POSTGRES_DISK=yes tests/servers.sh "$program" ${options[@]+"${options[@]}"} stop
    else
        echo 'NOT CUT: the power of PostgreSQL needs root, loop devices and mkfs.ext4'
    fi
fi
