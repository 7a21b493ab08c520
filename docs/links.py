"""Checks that each link within the built site leads to a page, and to a place on it.

    python docs/links.py build/docs/html
"""

import pathlib
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or tag == "a" and name == "name":
                self.ids.add(value)
            if name in ("href", "src") and value:
                self.links.append(value)


def main(folder):
    root = pathlib.Path(folder).resolve()
    pages = {path: Page(path.read_text()) for path in root.rglob("*.html")}
    count, outside, broken = 0, set(), []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                outside.add(link)
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                broken.append(f"{path.relative_to(root)}: {link}: there is no such file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                broken.append(f"{path.relative_to(root)}: {link}: there is no such place on the page")
    size = sum(f.stat().st_size for f in root.rglob("*") if f.is_file())
    print(f"{len(pages)} pages, {size / 2**20:.1f} MiB, {count} links within the site, {len(broken)} dead; {len(outside)} links to elsewhere, not tried")
    print("\n".join(broken))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
