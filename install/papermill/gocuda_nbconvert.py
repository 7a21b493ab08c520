"""Writes notebooks as Go that gocuda-kernel exec runs: jupyter nbconvert --to script."""

import json
import re

from nbconvert.exporters import Exporter

# Lines that the script has as comments: magics, commands, and comments that would else
# be taken for these or for the beginning of a cell.
COMMENTED = re.compile(r"(?:// ?)*(?:%{1,2}\w|![\w.~$\\/{-])|(?:// ?)+%%(?:[ \t]|$)")


class ScriptExporter(Exporter):
    """Cells begin with "// %%", as in jupytext's format go:percent; all but code is a comment."""

    file_extension = ".go"
    output_mimetype = "text/x-go"

    def from_notebook_node(self, nb, resources=None, **kw):
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        return "\n".join(script(cell) for cell in nb.cells), resources


def script(cell):
    begin = ["// %%"]
    if cell.cell_type != "code":
        begin.append(f"[{cell.cell_type}]")
    if tags := cell.metadata.get("tags"):
        begin.append("tags=" + json.dumps(tags))
    lines = cell.source.split("\n")
    if cell.cell_type == "code":
        lines = ["// " + line if COMMENTED.match(line) else line for line in lines]
    else:
        lines = [("// " + line).rstrip() for line in lines]
    return " ".join(begin) + "\n" + "\n".join(lines) + "\n"
