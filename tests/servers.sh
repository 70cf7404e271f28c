#!/usr/bin/env bash
# Runs the tests that need a server, with one: all of the workspace, or the command that is given.
#
#     tests/servers.sh
#     tests/servers.sh cargo test -p langgraph-postgres
#
# It starts a PostgreSQL of its own, in a temporary folder and on a free port, and takes it away
# again. With DATABASE_URL set it uses that one instead; the tests make schemas of their own there.
# With POSTGRES_DISK set, as root on Linux, its files are on a disk of their own (an image with ext4), and the
# power of that disk is cut where the server would be stopped at once.
# Where PostgreSQL is missing, it installs Debian's package if it may, and else says what to type.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# == 0)); then
    set -- cargo test --workspace
fi

fail() {
    printf 'tests/servers.sh: %s\n' "$1" >&2
    exit 1
}

# The folder with both programs, or nothing.
find_postgres() {
    local folder initdb
    if initdb=$(command -v initdb); then
        folder=$(dirname "$(readlink -f "$initdb")")
        if [[ -x $folder/postgres ]]; then
            echo "$folder"
            return
        fi
    fi
    # Debian, Fedora, Homebrew; the newest version last.
    for folder in $(printf '%s\n' /usr/lib/postgresql/*/bin /usr/pgsql-*/bin \
        /opt/homebrew/opt/postgresql@*/bin /usr/local/opt/postgresql@*/bin | sort -rV); do
        if [[ -x $folder/initdb && -x $folder/postgres ]]; then
            echo "$folder"
            return
        fi
    done
}

install_postgres() {
    local install='apt-get install -y --no-install-recommends postgresql'
    if ! command -v apt-get >/dev/null; then
        fail 'PostgreSQL (`initdb`, `postgres`) is missing; install it, or set DATABASE_URL to a server'
    elif ((EUID == 0)); then
        apt-get update && DEBIAN_FRONTEND=noninteractive $install
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        sudo apt-get update && sudo env DEBIAN_FRONTEND=noninteractive $install
    else
        fail "PostgreSQL is missing; type: sudo $install"
    fi
}

if [[ -n ${DATABASE_URL:-} ]]; then
    exec "$@"
fi

bin=$(find_postgres)
if [[ -z $bin ]]; then
    install_postgres >&2
    bin=$(find_postgres)
    [[ -n $bin ]] || fail 'PostgreSQL is still missing after it was installed; set DATABASE_URL to a server'
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/langgraph-postgres.XXXXXX")
as=()
if ((EUID == 0)); then
    # PostgreSQL refuses to run as root.
    user=nobody
    if id postgres >/dev/null 2>&1; then
        user=postgres
    fi
    chown "$user" "$folder"
    if command -v runuser >/dev/null; then
        as=(runuser -u "$user" --)
    else
        as=(setpriv "--reuid=$user" --clear-groups --)
    fi
fi
# From a folder that the other user may be in.
postgres() {
    (cd / && ${as[@]+"${as[@]}"} "$@")
}

started=
cleanup() {
    if [[ -n $started ]]; then
        postgres "$bin/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null || true
    fi
    if [[ -n ${POSTGRES_DISK:-} ]]; then
        umount -l "$folder/data" || true
    fi
    rm -rf "$folder"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [[ -n ${POSTGRES_DISK:-} ]]; then
    truncate -s 300M "$folder/disk"
    mkfs.ext4 -q "$folder/disk"
    mkdir "$folder/data"
    # What is not synced stays in memory for a minute.
    mount -o loop,commit=60 "$folder/disk" "$folder/data"
    rmdir "$folder/data/lost+found"
    chown "$user" "$folder/data"
    chmod 700 "$folder/data"
    POSTGRES_DURABLE=${POSTGRES_DURABLE-yes}
fi

make_cluster() {
    postgres "$bin/initdb" -D "$folder/data" -U langgraph -A trust -E UTF8 --no-sync "$@" \
        >"$folder/initdb.log" 2>&1
}
# Text is sorted as in English, where that can be had: what wants another order has to say so.
if ! make_cluster --locale=C.UTF-8 --locale-provider=icu --icu-locale=en; then
    find "$folder/data" -mindepth 1 -delete
    make_cluster --locale=C || { cat "$folder/initdb.log" >&2; fail 'initdb failed'; }
fi

if [[ -n ${POSTGRES_DISK:-} ]]; then sync -f "$folder/data"; fi

# What is in it is thrown away, so it need not survive a loss of power: unless that is measured.
fast='-c fsync=off -c synchronous_commit=off -c full_page_writes=off'
if [[ -n ${POSTGRES_DURABLE:-} ]]; then fast=''; fi

for _ in {1..20}; do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 40000))
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
        continue # somebody listens
    fi
    options="-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories='' $fast -c max_connections=200"
    if postgres "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 60 -o "$options" start >/dev/null; then
        started=yes
        break
    fi
done
if [[ -z $started ]]; then
    cat "$folder/log" >&2 || true
    fail 'PostgreSQL does not start'
fi

export DATABASE_URL="postgres://langgraph@127.0.0.1:$port/postgres"
# `pg_dump` of the same version.
export PATH="$bin:$PATH"
# Stops the server at once, and starts it again: for who tests that.
control="${as[*]:-} $bin/pg_ctl -D $folder/data -l $folder/log -w -t 60"
export POSTGRES_RESTART="cd / && $control -m immediate restart >/dev/null"
if [[ -n ${POSTGRES_DISK:-} ]]; then
    # The processes end, and the server starts on what the image holds then.
    cat >"$folder/cut" <<END
set -e
cd /
read -r server <$folder/data/postmaster.pid
# It starts no more of them while they are counted.
kill -STOP \$server
kill -9 \$(pgrep -P \$server) \$server
cp --sparse=always $folder/disk $folder/left
umount -l $folder/data
mv $folder/left $folder/disk
mount -o loop,commit=60 $folder/disk $folder/data
# After a loss of power no process has this number.
rm $folder/data/postmaster.pid
$control start -o "$options" >/dev/null
END
    export POSTGRES_RESTART="bash $folder/cut"
fi
status=0
"$@" || status=$?
exit "$status"
