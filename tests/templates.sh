#!/usr/bin/env bash
# Makes a package from each template of `cargo langgraph new` in an empty folder, and builds, tests and
# runs it without a network. Needs a C compiler for the service's SQLite, and curl.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
cargo build --quiet -p cargo-langgraph
folder=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$folder"' EXIT
export PATH=$target/debug:$PATH CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=$target/templates
cd "$folder"

# Fails if a program has not printed a text.
printed() {
    echo "$1"
    [[ $1 == *"$2"* ]]
}

for template in agent workflow service; do
    begun=$SECONDS
    cargo langgraph new "my-$template" --template "$template" --path "$root"
    cd "my-$template"
    cargo fmt --check
    cargo langgraph fmt --check
    cargo clippy --quiet --all-targets -- -D warnings
    cargo test --quiet
    case $template in
        agent) printed "$(cargo run --quiet -- 'What is 37 * 21?')" 'The answer is 777.' ;;
        workflow) printed "$(cargo run --quiet -- yes)" shipped ;;
        service)
            cargo build --quiet
            PORT=20241 "$CARGO_TARGET_DIR/debug/my-service" &
            server=$!
            curl --silent --fail --retry 20 --retry-delay 1 --retry-connrefused http://127.0.0.1:20241/ok
            echo
            ;;
    esac
    cd ..
    echo "$template: $((SECONDS - begun)) s"
done
