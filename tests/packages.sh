#!/usr/bin/env bash
# Packages every crate that is to be published, and builds each from its package alone, as a registry
# would give it out. With `--list`, it packages them and builds nothing. Either way, it leaves them unpacked in
# target/packages/unpacked, in the folders of the repository: what `cargo langgraph new --path` takes.
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

# The files of a package have one time for all versions: they get that of today, or Cargo takes new ones for built.
unpacked=$target/unpacked
rm -rf "$unpacked"
mkdir -p "$unpacked/.cargo"
cp Cargo.lock "$unpacked"
printf '[workspace]\nmembers = [\n' >"$unpacked/Cargo.toml"
printf '[patch.crates-io]\n' >"$unpacked/.cargo/config.toml"
while read -r name folder; do
    mkdir -p "$unpacked/$folder"
    tar -xzmf "$target/package/$name"-[0-9]*.crate --strip-components 1 -C "$unpacked/$folder"
    printf '    "%s",\n' "$folder" >>"$unpacked/Cargo.toml"
    printf '%s = { path = "%s" }\n' "$name" "$unpacked/$folder" >>"$unpacked/.cargo/config.toml"
done < <(cargo metadata --no-deps --format-version 1 | python3 -c '
import json, os, sys
of = json.load(sys.stdin)
for package in of["packages"]:
    if package["publish"] != []:
        folder = os.path.dirname(package["manifest_path"])
        print(package["name"], os.path.relpath(folder, of["workspace_root"]))')
printf ']\nresolver = "3"\n' >>"$unpacked/Cargo.toml"
