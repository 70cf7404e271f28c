#!/usr/bin/env bash
# Packages every crate that is to be published, and builds each from its package alone, as a registry
# would give it out. With `--list`, it packages them and builds nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/packages
verify=()
[[ ${1:-} != --list ]] || verify=(--no-verify)

excluded=()
for name in $(cargo metadata --no-deps --format-version 1 |
    python3 -c 'import json, sys; [print(p["name"]) for p in json.load(sys.stdin)["packages"] if p["publish"] == []]'); do
    excluded+=(--exclude "$name")
done
rm -rf "$target/package"
cargo package --quiet --allow-dirty --workspace "${excluded[@]}" "${verify[@]}" --target-dir "$target"
for package in "$target"/package/*.crate; do
    files=$(tar -tzf "$package")
    [[ $files == */LICENSE-MIT* && $files == */LICENSE-APACHE* ]] || {
        echo "failed: $package lacks a licence" >&2
        exit 1
    }
    echo "$(du -k "$package" | cut -f1) KB $(basename "$package")"
done
