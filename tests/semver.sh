#!/usr/bin/env bash
# Compares the interfaces of all published crates with the last tag: a change that breaks programs needs another
# version. Needs `cargo install cargo-semver-checks`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tag=$(git describe --tags --abbrev=0 2>/dev/null) || {
    echo 'there is no tag yet: nothing to compare with'
    exit 0
}
echo "compared with $tag"
cargo semver-checks --workspace --baseline-rev "$tag"
