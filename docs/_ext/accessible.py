"""Repairs what axe-core finds in the pages of Sphinx and of the theme: code and tables
that scroll can be reached by the keyboard, and landmarks have names."""

import pathlib

REPAIRS = (
    ("<pre>", '<pre tabindex="0">'),
    ("<pre ", '<pre tabindex="0" '),
    ('<div style="overflow-x:auto">', '<div tabindex="0" style="overflow-x:auto">'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Site">'),
    ('<aside class="toc-drawer">', '<aside class="toc-drawer" aria-label="On this page">'),
    ('<th class="head"><p></p></th>', "<td></td>"),
    ('<th class="head"></th>', "<td></td>"),
)


def repair(app, error):
    if error or app.builder.format != "html":
        return
    for file in pathlib.Path(app.outdir).rglob("*.html"):
        text = before = file.read_text()
        for old, new in REPAIRS:
            text = text.replace(old, new)
        if text != before:
            file.write_text(text)


def setup(app):
    app.connect("build-finished", repair)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
