"""A preprocessor of mdBook: links to files outside of this folder, which the book does not hold.

With `git-repository-url` in the book's configuration they become links to the repository; without it, the
text of the link stays. A diagram that only a website's own reader draws is refused: mdBook would print its source.
"""

import json
import posixpath
import re
import sys

FENCE = re.compile(r"^(```+|~~~+)(.*)$")
OUTSIDE = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((\.\./[^)\s]*)\)")


def chapters(items):
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            yield chapter
            yield from chapters(chapter["sub_items"])


def rewrite(text, page, repository):
    """Returns the text of a page with its links resolved; code blocks stay as they are."""

    def resolved(link):
        label, target = link.group(1), link.group(2)
        if not repository:
            return label
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
        return f"[{label}]({repository}/blob/HEAD/{path})"

    def prose(lines):
        # A link may run over the end of a line.
        return OUTSIDE.sub(resolved, "".join(lines))

    out, pending, fence = [], [], None
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line.strip())
        if fence is None and mark:
            if mark.group(2).strip() == "mermaid":
                raise SystemExit(f"docs/{page} has a mermaid block, which the book cannot draw: show an SVG")
            out.append(prose(pending))
            pending, fence = [], mark.group(1)
            out.append(line)
        elif fence is not None:
            out.append(line)
            if mark and mark.group(1).startswith(fence) and not mark.group(2).strip():
                fence = None
        else:
            pending.append(line)
    out.append(prose(pending))
    return "".join(out)


def main():
    if sys.argv[1:2] == ["supports"]:
        raise SystemExit(0 if sys.argv[2] == "html" else 1)
    context, book = json.load(sys.stdin)
    html = context["config"].get("output", {}).get("html", {})
    repository = (html.get("git-repository-url") or "").rstrip("/")
    for chapter in chapters(book["items"]):
        chapter["content"] = rewrite(chapter["content"], chapter["path"] or "", repository)
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()
