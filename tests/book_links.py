"""Checks a book that mdBook has built: `book_links.py <pages> <book>`.

Every page of the folder is a chapter; every local link, picture and anchor of the book leads somewhere.
"""

import pathlib
import re
import sys
import urllib.parse
from html.parser import HTMLParser


class Page(HTMLParser):
    """The anchors of a page, and what it points to."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src", "srcset") and value and tag != "base":
                self.links.append(value)


def problems(pages, book):
    summary = (pages / "SUMMARY.md").read_text()
    chapters = {target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", summary)}
    for page in sorted(pages.rglob("*.md")):
        name = page.relative_to(pages).as_posix()
        if name != "SUMMARY.md" and name not in chapters:
            yield f"docs/SUMMARY.md does not name {name}"

    # The page for a wrong address is shown under any address, so its links are those of the site's root.
    files = [file for file in book.rglob("*.html") if file.name != "404.html"]
    parsed = {file.resolve(): Page(file.read_text()) for file in files}
    count = 0
    for file, page in parsed.items():
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                continue
            count += 1
            path = urllib.parse.unquote(url.path)
            target = (file.parent / path).resolve() if path else file
            anchor = urllib.parse.unquote(url.fragment)
            if not target.is_file():
                yield f"{file.name} links to {link}: there is no such file"
            elif anchor and target in parsed and anchor not in parsed[target].anchors:
                yield f"{file.name} links to {link}: there is no such anchor"
    print(f"{len(chapters)} chapters, {count} links")
    if count < 100:
        yield f"only {count} links: were the pages built?"


if __name__ == "__main__":
    found = sorted(set(problems(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))))
    print("\n".join(found), file=sys.stderr)
    sys.exit(bool(found))
