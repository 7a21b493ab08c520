"""Takes the waits and the fences out of a notebook, one at a time, and shows what
`gocuda-kernel run --check` says of each:

    python3 tests/check_mutations.py bin/gocuda-kernel notebooks/10_wave_equation.ipynb

A line is a cell, a line in it, what was there, how many hazards were reported, and
the first one's two places. Some waits are not needed, because another follows, or
because they only take a time: nothing is reported then, and a person must look.
"""
import copy
import json
import re
import subprocess
import sys
import tempfile

WAIT = re.compile(r"^\s*(must\()?[\w.\[\]]+\.(WaitEvent|Synchronize|Record|Wait|Signal)\(.*\)\s*(//.*)?$")
PLACES = re.compile(r"first   (.*?): .*\n(?:.*\n)?  second  (.*?): ")


def main(kernel, path):
    with open(path) as f:
        notebook = json.load(f)
    for i, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        for k, line in enumerate(cell["source"]):
            if not WAIT.match(line.rstrip("\n")):
                continue
            mutant = copy.deepcopy(notebook)
            mutant["cells"][i]["source"][k] = "\n"
            with tempfile.NamedTemporaryFile("w", suffix=".ipynb") as f:
                json.dump(mutant, f)
                f.flush()
                run = subprocess.run([kernel, "run", "--check", "--allow-errors", "-q", "-o", f.name + ".out", f.name],
                                     capture_output=True, text=True, timeout=600)
            said = run.stdout + run.stderr
            places = PLACES.search(said)
            print(i, k + 1, line.strip(), len(re.findall("^hazard:", said, re.M)), places.groups() if places else "", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
