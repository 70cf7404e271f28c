#!/usr/bin/env bash
# Counts what the hot paths cost: instructions, allocations and bytes with valgrind, system calls with
# strace. Fails when one has grown.
#
# Counts, unlike seconds, are the same on a busy machine. Those of instructions depend on the compiler,
# so they are compared only under the one that made `expected.tsv`. After a change that is meant to cost
# something: `run.sh --bless`, and say in the commit what it buys.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Finds a tool. Root without a password, as on a machine that is made for one check, may install it.
find_tool() { # NAME WHAT
    command -v "$1" >/dev/null && return
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -y -qq --no-install-recommends "$1" >/dev/null && return
    fi
    echo "NOT CHECKED: $1 is not installed; $2 were not compared" >&2
    return 1
}
find_tool valgrind 'instructions and allocations' || exit 0
traces=yes
find_tool strace 'system calls' && strace -c -o /dev/null true 2>/dev/null || traces=

binary=$(cargo bench --locked -p langgraph --bench instructions --no-run --message-format=json-render-diagnostics \
    | sed -n 's/.*"name":"instructions".*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
[[ -x $binary ]] || { echo 'the benchmark `instructions` was not built' >&2; exit 1; }
compiler="$(rustc --version) $(uname -m)"

# Each returns what the whole process costs for that many runs.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "$@" 2>&1 \
        | sed -n 's/^==[0-9]*== Collected : //p'
}
allocations() { # and bytes
    valgrind --tool=dhat --dhat-out-file=/dev/null "$binary" "$@" 2>&1 \
        | sed -n 's/^==[0-9]*== Total: *\([0-9,]*\) bytes in \([0-9,]*\) blocks/\2 \1/p' | tr -d ,
}
system_calls() { # But for those that only get memory.
    [[ $traces ]] || { echo 0; return; }
    local table=$rows/$BASHPID
    strace -f -c -e 'trace=!brk,mmap,munmap,mremap,mprotect,madvise' -o "$table" "$binary" "$@"
    awk '$NF == "total" { print $4 }' "$table"
}
rows=$(mktemp -d)
trap 'rm -rf "$rows"' EXIT

# What one run costs: what ten more runs add, so that starting and compiling do not count.
each_run() { # COUNT NAME SIZE FORM
    local few many
    read -ra few <<<"$("$1" "$2" "$3" "$4" 2)"
    read -ra many <<<"$("$1" "$2" "$3" "$4" 12)"
    [[ ${#few[@]} -gt 0 && ${#many[@]} == "${#few[@]}" ]] \
        || { echo "nothing was counted: $*" >&2; exit 1; }
    for i in "${!few[@]}"; do
        printf '%s ' $(((many[i] - few[i]) / 10))
    done
}

workloads='chain 10
chain 1000
breakpoint 1000
ephemeral 1000
plain-memory 1000
plain-updates 1000
loop 1000
bounded 1000
nodes 10
nodes 100
nodes 1000
sends 10
sends 100
sends 1000
react 100
react-memory 100
streamed 100
subgraph 10
subgraphs 100
wide 1000'

measure() { # NAME SIZE
    local name=$1 size=$2 ours by_hand blocks bytes calls
    ours=$(each_run instructions "$name" "$size" langgraph)
    by_hand=$(each_run instructions "$name" "$size" baseline)
    read -r blocks bytes <<<"$(each_run allocations "$name" "$size" langgraph)"
    calls=$(each_run system_calls "$name" "$size" langgraph)
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$size" $((ours / size)) $((by_hand / size)) \
        "$blocks" "$bytes" "${calls% }" >"$rows/$name $size"
}
# As many at a time as there are cores.
export rows binary traces
export -f measure each_run instructions allocations system_calls
xargs -L 1 -P "$(nproc)" bash -c 'set -euo pipefail; measure "$@"' measure <<<"$workloads"
measured=$(while read -r workload; do cat "$rows/$workload"; done <<<"$workloads")

if [[ ${1:-} == --bless ]]; then
    printf '# %s: workload, size, instructions for each node or turn, the same by hand, %s\n%s\n' \
        "$compiler" 'allocations of a run, their bytes, its system calls' "$measured" >expected.tsv
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
compare() { # WHAT NOW EXPECTED SLACK
    if (($2 * 100 > $3 * 105 + $4 * 100)); then
        echo "  $1: $2, more than 5 % above $3" >&2
        failed=1
    elif (($2 * 100 < $3 * 95 - $4 * 100)); then
        echo "  $1: $2, better than $3 by more than 5 %: keep it with run.sh --bless"
    fi
}
while IFS=$'\t' read -r name size expected _ blocks bytes calls; do
    now=$(awk -F '\t' -v name="$name" -v size="$size" \
        '$1 == name && $2 == size { print $3, $5, $6, $7 }' <<<"$measured")
    [[ -n $now ]] || { echo "$name $size is in expected.tsv and is not measured" >&2; exit 1; }
    read -r now now_blocks now_bytes now_calls <<<"$now"
    printf '%-12s %5s: %6s instructions, a run: %6s allocations, %8s bytes, %s system calls\n' \
        "$name" "$size" "$now" "$now_blocks" "$now_bytes" "${traces:+$now_calls}"
    compare instructions "$now" "$expected" 0
    compare allocations "$now_blocks" "$blocks" 0
    compare bytes "$now_bytes" "$bytes" 64
    compare 'system calls' "$now_calls" "$calls" 1
done < <(tail -n +2 expected.tsv)
exit "$failed"
