"""Gathers what the site is built from: docs, the tutorials with their outputs, the
records, and the project's own files. Links between them are written for the
repository; here they become links of the site.

    python docs/prepare.py build/docs/source
"""

import json
import pathlib
import posixpath
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What lies elsewhere in the repository, and its place in the site.
FOLDERS = {"docs": "", "notebooks": "tutorials", "records": "records"}
FILES = {
    "CONTRIBUTING.md": "develop/contributing.md",
    "SECURITY.md": "develop/security.md",
    "CODE_OF_CONDUCT.md": "develop/conduct.md",
    "CHANGELOG.md": "changes.md",
    "LICENSE": "licence.md",
    "cudaapi/gpu/LANGUAGE.md": "reference/kernel-language.md",
    "install/VERSION": "VERSION",
    "notebooks/README.md": "tutorials/index.md",
}
LINK = re.compile(r"`[^`]*`|\]\((?!https?:|mailto:|#|data:)([^)#\s]*)(#[^)\s]*)?\)")


def place(path):
    """A file of the repository in the site, or None."""
    if path in FILES:
        return FILES[path]
    if path.endswith((".go", ".lock")) or "/testdata/" in path or "__pycache__" in path:
        return None
    for folder, target in FOLDERS.items():
        if path.startswith(folder + "/"):
            rest = path[len(folder) + 1 :]
            return posixpath.join(target, rest) if target else rest
    return None


def rewrite(text, source, target, out):
    """The text of a Markdown file, with its links as the site has them. What was made
    from the code is in the folder out already."""

    def link(m):
        if m[1] is None:
            return m[0]  # code
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), m[1]))
        if path == "records":
            found = "records/index.md"
        else:
            found = place(path)
            if found and not (ROOT / path).is_file() and not (out / found).is_file():
                found = None
        if found is None:
            if source.startswith(("docs/", "CONTRIBUTING", "SECURITY")):
                sys.exit(f"{source}: {m[1]} is not in the site")
            return "]"  # of a record: what it names is in the repository only
        return f"]({posixpath.relpath(found, posixpath.dirname(target) or '.')}{m[2] or ''})"

    lines, code = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            code = not code
        lines.append(line if code else LINK.sub(link, line))
    return "\n".join(lines)


def main(folder):
    out = pathlib.Path(folder)
    for top in FOLDERS:
        for file in sorted((ROOT / top).rglob("*")):
            path = file.relative_to(ROOT).as_posix()
            if file.is_file() and place(path):
                copy(path, out)
    for path in FILES:
        if (ROOT / path).exists():
            copy(path, out)
    tutorials(out)
    records = sorted((ROOT / "records").glob("*.md"))
    names = "\n".join(p.stem for p in records)
    write(out / "records" / "index.md", "# Records\n\nWhat was measured and tried, a file for each subject. They are evidence, not documentation.\n\n```{toctree}\n:maxdepth: 1\n\n" + names + "\n```\n")
    if (out / "licence.md").exists():
        text = (ROOT / "LICENSE").read_text()
        write(out / "licence.md", "# Licence\n\n```text\n" + text + "```\n")


def tutorials(out):
    """The tutorials' page: a book. What is for their authors goes to Develop."""
    index = out / "tutorials" / "index.md"
    text = index.read_text().split("\n## For authors\n")[0]
    names = "\n".join(p.stem for p in sorted((ROOT / "notebooks").glob("*.ipynb")))
    write(index, text + "\n```{toctree}\n:hidden:\n:maxdepth: 1\n\n" + names + "\nglossary\nsources\n```\n")
    target = "develop/tutorials.md"
    source = (ROOT / "notebooks" / "README.md").read_text().split("\n## For authors\n")[1]
    write(out / target, "# Writing tutorials\n" + rewrite(source, "notebooks/README.md", target, out))


def copy(path, out):
    target = place(path)
    file = out / target
    if path.endswith(".md"):
        write(file, rewrite((ROOT / path).read_text(), path, target, out))
        return
    if path.endswith(".ipynb"):
        nb = json.loads((ROOT / path).read_text())
        write(file, json.dumps(still(nb), ensure_ascii=False))
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / path, file)


def still(nb):
    """A notebook for readers without a kernel: a widget whose output has another form as
    well is shown in that one, since nothing would happen when it is moved."""
    for cell in nb["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if any(kind == "text/html" or kind.startswith("image/") for kind in data):
                data.pop("application/vnd.jupyter.widget-view+json", None)
    return nb


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1])
