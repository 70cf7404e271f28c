#!/usr/bin/env bash
# Packages every crate that is to be published, and builds them from their packages alone: each by itself, and
# without its default features if it has any. They are unpacked in target/packages/unpacked, in the folders of
# the repository: what `cargo langgraph new --path` takes. With `--list`, it ends there and builds nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/packages

metadata=$(cargo metadata --no-deps --format-version 1)
# What a registry shows of a crate, and what its first page has to say.
published=$(python3 -c '
import json, os, re, sys
of = json.load(sys.stdin)
failed = False
for package in of["packages"]:
    name, manifest = package["name"], package["manifest_path"]
    if package["publish"] == []:
        continue
    lacks = [key for key in ("categories", "description", "keywords", "license", "readme") if not package[key]]
    features = set(package["features"]) - {"default"}
    settings = (package["metadata"] or {}).get("docs", {}).get("rs", {})
    if features and not settings.get("all-features"):
        lacks.append("all-features for docs.rs")
    code = os.path.join(os.path.dirname(manifest), "src/lib.rs")
    first = "".join(line for line in open(code) if line.startswith("//!"))
    documented = re.split("^//! # Features$", first, flags=re.M)[1:]
    lacks += [f"feature {one} in its documentation" for one in features if f"`{one}`" not in "".join(documented)]
    for one in lacks:
        print(f"failed: {name} lacks {one}", file=sys.stderr)
        failed = True
    default = "default" if package["features"].get("default") else "plain"
    print(name, os.path.relpath(os.path.dirname(manifest), of["workspace_root"]), default)
sys.exit(failed)' <<<"$metadata")

packages=()
while read -r name _; do
    packages+=(-p "$name")
done <<<"$published"
rm -rf "$target/package"
cargo package --quiet --allow-dirty --no-verify "${packages[@]}" --target-dir "$target"
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
while read -r name folder _; do
    mkdir -p "$unpacked/$folder"
    tar -xzmf "$target/package/$name"-[0-9]*.crate --strip-components 1 -C "$unpacked/$folder"
    printf '    "%s",\n' "$folder" >>"$unpacked/Cargo.toml"
    printf '%s = { path = "%s" }\n' "$name" "$unpacked/$folder" >>"$unpacked/.cargo/config.toml"
done <<<"$published"
printf ']\nresolver = "3"\n' >>"$unpacked/Cargo.toml"
[[ ${1:-} != --list ]] || exit 0

begun=$SECONDS
cd "$unpacked"
export CARGO_TARGET_DIR=$target
# Together, each would have the features that another one chooses of a dependency. Cargo checks a dependency once for
# each choice, and nothing that an earlier crate has checked.
while read -r name _ default; do
    cargo check --quiet -p "$name" || {
        echo "failed: $name does not build by itself" >&2
        exit 1
    }
    [[ $default == plain ]] || cargo check --quiet -p "$name" --no-default-features || {
        echo "failed: $name does not build without its default features" >&2
        exit 1
    }
done <<<"$published"
# A package that reads a file of another one compiles here, where both are unpacked, but not from a registry.
python3 - "$unpacked" "$target/debug/deps" "$published" <<'END'
import glob, os, sys

root, built, published = sys.argv[1:]
folders = [line.split()[1] for line in published.splitlines()]


def folder_of(file):
    file = os.path.relpath(os.path.join(root, file), root)
    return next((one for one in folders if file.startswith(one + os.sep)), None)


crates, wrong = set(), set()
for listing in glob.glob(f"{built}/*.d"):
    for line in open(listing):
        target, _, sources = line.partition(": ")
        sources = [one for one in sources.split() if not os.path.isabs(one) or one.startswith(root + os.sep)]
        owners = {folder_of(one) for one in sources}
        crates |= owners
        if len(owners) > 1:
            wrong.add(f"{target} is made of files of {sorted(map(str, owners))}")
for one in sorted(wrong):
    print("failed:", one, file=sys.stderr)
if missing := set(folders) - crates:
    print("failed: nothing was built of", sorted(missing), file=sys.stderr)
sys.exit(bool(wrong or missing))
END
echo "built from the packages, each by itself: $((SECONDS - begun)) s"
