#!/usr/bin/env bash
# Counts the instructions of a task in a run without a thread, with valgrind. Fails when there are more than 5 % above
# what is expected. Counts, unlike seconds, are the same on a busy machine, but the folder of a checkout is in the names
# of its symbols, and moves them by some 20.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

command -v valgrind >/dev/null || {
    echo 'NOT CHECKED: valgrind is not installed; the instructions of tasks were not counted' >&2
    exit 0
}
# What a task costs beside the bare future, under rustc 1.95: 1111 to 1155, by the folder.
expected=1135
limit=$((expected * 105 / 100))

binary=$(cargo bench --locked -p langgraph-benches --bench tasks --no-run --message-format=json-render-diagnostics \
    | sed -n 's/.*"name":"tasks".*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
[[ -x $binary ]] || { echo 'the benchmark `tasks` was not built' >&2; exit 1; }

# Each benchmark runs once; the process around it is the same for both.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" --test "$1" 2>&1 \
        | sed -n 's/^==[0-9]*== Collected : \([1-9][0-9]*\)$/\1/p' | sort -n | tail -n 1
}
futures=$(instructions '1000 futures')
tasks=$(instructions '1000 tasks')
task=$(((tasks - futures) / 1000))
echo "a task: $task instructions more than the bare future"
((task <= limit)) || { echo "more than 5 % above $expected" >&2; exit 1; }
