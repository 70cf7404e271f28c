#!/usr/bin/env bash
# Counts the instructions of the hot paths with valgrind, and fails when one has grown by 5 %.
#
# Instructions, unlike seconds, are the same on a busy machine. They depend on the compiler, so they
# are compared only under the one that made `expected.tsv`. After a change that is meant to cost
# something: `run.sh --bless`, and say in the commit what it buys.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if ! command -v valgrind >/dev/null; then
    # Root without a password, as on a machine that is made for one check, may install it.
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -y -qq --no-install-recommends valgrind >/dev/null
    else
        echo 'NOT CHECKED: valgrind is not installed; the counts of instructions were not compared' >&2
        exit 0
    fi
fi

binary=$(cargo bench --locked -p langgraph --bench instructions --no-run --message-format=json \
    | sed -n 's/.*"name":"instructions".*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
[[ -x $binary ]] || { echo 'the benchmark `instructions` was not built' >&2; exit 1; }
compiler="$(rustc --version) $(uname -m)"

# The instructions of the whole process for that many runs.
total() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "$@" 2>&1 \
        | sed -n 's/^==[0-9]*== Collected : //p'
}

# What one element costs: what ten more runs add, so that starting and compiling do not count.
measure() { # NAME SIZE FORM
    local few many
    few=$(total "$1" "$2" "$3" 2)
    many=$(total "$1" "$2" "$3" 12)
    [[ -n $few && -n $many ]] || { echo "valgrind counted nothing for $1 $2 $3" >&2; exit 1; }
    echo $(((many - few) / 10 / $2))
}

measured=$(
    for workload in 'chain 10' 'chain 1000' 'loop 1000' 'nodes 10' 'nodes 100' 'nodes 1000' \
        'sends 10' 'sends 100' 'sends 1000' 'react 100' 'react-memory 100'; do
        read -r name size <<<"$workload"
        counts=$(measure "$name" "$size" langgraph)
        printf '%s\t%s\t%s\t%s\n' "$name" "$size" "$counts" "$(measure "$name" "$size" baseline)"
    done
)

if [[ ${1:-} == --bless ]]; then
    printf '# %s: workload, size, instructions for each node or turn, the same by hand\n%s\n' \
        "$compiler" "$measured" >expected.tsv
    cat expected.tsv
    exit 0
fi

made_with=$(sed -n '1s/^# \(.*\): workload.*/\1/p' expected.tsv)
if [[ $made_with != "$compiler" ]]; then
    echo "NOT CHECKED: expected.tsv was made with $made_with, and this is $compiler" >&2
    echo "$measured"
    exit 0
fi

failed=0
while IFS=$'\t' read -r name size expected _; do
    now=$(awk -F '\t' -v name="$name" -v size="$size" '$1 == name && $2 == size { print $3 }' <<<"$measured")
    [[ -n $now ]] || { echo "$name $size is in expected.tsv and is not measured" >&2; exit 1; }
    printf '%-12s %5s: %6s instructions, expected %6s\n' "$name" "$size" "$now" "$expected"
    if ((now * 100 > expected * 105)); then
        echo "  more than 5 % above what it was" >&2
        failed=1
    elif ((now * 100 < expected * 95)); then
        echo '  better by more than 5 %: keep it with run.sh --bless'
    fi
done < <(tail -n +2 expected.tsv)
exit "$failed"
