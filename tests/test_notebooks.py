"""The tutorials and notebook files, through nbconvert, nbclient and
`gocuda-kernel run`."""

import json
import re
import subprocess
import sys

import nbclient
import nbconvert
import nbformat
import papermill
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import PyFileConfigLoader

from conftest import ROOT

sys.path.insert(0, str(ROOT / "docs"))
import prepare  # noqa: E402

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def ran(path):
    nb = nbformat.read(path, as_version=4)
    nbformat.validate(nb)
    code = [c for c in nb.cells if c.cell_type == "code" and c.source.strip()]
    assert all(c.execution_count for c in code)
    meant = "raises-exception"  # a cell that shows an error to the reader
    assert not [o for c in code for o in c.outputs if o.output_type == "error" and meant not in c.metadata.get("tags", [])]
    return nb


# Each tutorial runs once as it is: two by other clients, all others by nbclient. The Go
# tests run them all with small parameters, on several numbers of devices.
BY_NBCONVERT, BY_RUN = NOTEBOOKS[3], NOTEBOOKS[4]


@pytest.mark.parametrize("path", [p for p in NOTEBOOKS if p not in (BY_NBCONVERT, BY_RUN)], ids=lambda p: p.stem)
def test_tutorial_by_nbclient(path, tmp_path):
    nb = nbformat.read(path, as_version=4)
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbclient.NotebookClient(
        nb, kernel_name="gocuda", timeout=300, resources={"metadata": {"path": tmp_path}}
    ).execute()
    nbformat.write(nb, tmp_path / path.name)
    ran(tmp_path / path.name)


def test_tutorial_by_nbconvert(tmp_path):
    subprocess.run(
        ["jupyter", "nbconvert", "--to", "notebook", "--execute",
         "--ExecutePreprocessor.kernel_name=gocuda", "--output-dir", tmp_path, BY_NBCONVERT],
        check=True,
    )
    ran(tmp_path / BY_NBCONVERT.name)


def test_tutorial_without_jupyter(binary, tmp_path):
    out = tmp_path / "out.ipynb"
    subprocess.run([binary, "run", BY_RUN, "-o", out, "--timeout", "5m"], check=True)
    ran(out)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_tutorials_are_as_nbformat_writes_them(path):
    text = path.read_text()
    assert nbformat.writes(nbformat.read(path, as_version=4)).rstrip("\n") + "\n" == text


def notebook(*cells):
    nb = new_notebook(metadata={"kernelspec": {
        "name": "gocuda", "display_name": "Go (CUDA)", "language": "go"}})
    nb.cells = [new_code_cell(c) if isinstance(c, str) else c for c in cells]
    for i, c in enumerate(nb.cells):
        c["id"] = f"cell-{i}"
    return nb


def run(binary, nb, tmp_path, *options, status=0):
    source, out = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
    nbformat.write(nb, source)
    done = subprocess.run(
        [binary, "run", source, "-o", out, *options], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == status, done.stderr
    result = nbformat.read(out, as_version=4)
    nbformat.validate(result)
    assert nbformat.writes(result).rstrip("\n") + "\n" == out.read_text()
    return result, done.stderr


def test_a_script_runs_as_its_notebook(binary, tmp_path):
    """What nbconvert writes of a tutorial, and of cells whose lines look like others of a script."""
    nb = notebook(
        new_markdown_cell("# Title\n\n%mpi is a magic\n// %% is none"), "!echo 1\nx := 2\n// %% no cell\n// %time no magic\nx",
        "%%bash\necho 3 # %4\necho '// %%'", "s := `\n// !5\n%%` + `6`\ns", "%time x++", new_code_cell("panic(x)", metadata={"tags": ["raises-exception"]}), "", "x")
    first = nbformat.read(NOTEBOOKS[0], as_version=4)
    nb.metadata["language_info"] = first.metadata["language_info"]
    for name, nb in [("cells", nb), ("tutorial", first)]:
        nbformat.write(nb, tmp_path / f"{name}.ipynb")
        subprocess.run(["jupyter", "nbconvert", "--to", "script", tmp_path / f"{name}.ipynb"], check=True)
        done = subprocess.run([binary, "exec", tmp_path / f"{name}.go"], capture_output=True, text=True, timeout=200)
        subprocess.run([binary, "run", "-q", "--inplace", tmp_path / f"{name}.ipynb"], check=True)
        assert done.returncode == 0, done.stderr
        want = [o["text"] if o["output_type"] == "stream" else o["data"]["text/plain"] + "\n"
                for c in nbformat.read(tmp_path / f"{name}.ipynb", as_version=4).cells for o in c.get("outputs", [])
                if o.get("name") == "stdout" or "data" in o]
        steady = lambda s: re.sub(r"[\d.]+ ?[nµm]?s\b", "T", s)
        assert steady(done.stdout) == steady("".join(want))


def test_nbgrader_takes_solutions_out(binary, tmp_path):
    """By the configuration that the guide has; what is left fails until it is solved."""
    preprocessors = pytest.importorskip("nbgrader.preprocessors")
    config = PyFileConfigLoader("nbgrader_config.py", ROOT / "docs" / "guide" / "files").load_config()
    grade = lambda solution: {"nbgrader": {"schema_version": 3, "grade_id": f"cell-{solution}", "solution": solution, "grade": not solution, "locked": not solution, "task": False, "points": 1}}
    nb = notebook(
        new_code_cell("func square(x int) int {\n\t// BEGIN SOLUTION\n\treturn x * x\n\t// END SOLUTION\n}", metadata=grade(True)),
        new_code_cell('check(square(3) == 9, "no")\n// BEGIN HIDDEN TESTS\ncheck(square(-4) == 16, "no")\n// END HIDDEN TESTS', metadata=grade(False)))
    run(binary, nb, tmp_path)
    for p in [preprocessors.ClearSolutions, preprocessors.ClearHiddenTests]:
        nb, _ = p(config=config).preprocess(nb, {})
    assert [c.source for c in nb.cells] == ['func square(x int) int {\n\t// YOUR CODE HERE\n\tpanic("not implemented")\n}', 'check(square(3) == 9, "no")']
    _, said = run(binary, nb, tmp_path, status=1)
    assert "not implemented" in said


def test_nbval_sees_no_difference(binary, tmp_path):
    """Between two runs, with what the guide has for it."""
    pytest.importorskip("nbval")
    nb = notebook("a := must(must(cuda.Get(0)).Alloc(1024, cuda.Float32))\ns := must(must(cuda.Get(0)).NewStream())\na, &s",
                  "%%timeline t\nmust(a.Memset(0), nil)", "%%check\nmust(a.MemsetAsync(1, s), nil)\nmust(a.Float32s())[0]", "%time 1+1")
    nb, _ = run(binary, nb, tmp_path)
    assert "hazard" in str(nb.cells[2].outputs)
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval", "--nbval-sanitize-with",
                    ROOT / "docs" / "guide" / "files" / "nbval.cfg", tmp_path / "out.ipynb"], check=True)


SAMPLE = [
    new_markdown_cell("# Text"),
    'for i := range 3 {\n\tfmt.Println("line", i)\n}\nfmt.Fprintln(os.Stderr, "err")',
    "x := 6 * 7\nx",
    'display.Show(display.HTML("<b>x</b>"))\ndisplay.ShowAs("d", "before")',
    'display.Update("d", "after")',
    'fmt.Println("gone")\ndisplay.Clear(false)\nfmt.Println("stays")',
]


def shown(nb):
    """The outputs without what may differ between runs: how a stream is cut."""
    cells = []
    for c in nb.cells:
        outputs = []
        for o in c.get("outputs", []):
            o = dict(o)
            if o["output_type"] == "stream":
                if outputs and outputs[-1].get("name") == o["name"]:
                    outputs[-1]["text"] += o["text"]
                    continue
            o.pop("transient", None)
            outputs.append(o)
        cells.append((c.get("execution_count"), sorted(json.dumps(o, sort_keys=True) for o in outputs)))
    return cells


def test_run_saves_what_nbclient_saves(binary, tmp_path):
    by_run, _ = run(binary, notebook(*SAMPLE), tmp_path)
    by_nbclient = notebook(*SAMPLE)
    nbclient.NotebookClient(by_nbclient, kernel_name="gocuda", timeout=120).execute()
    assert shown(by_run) == shown(by_nbclient)
    assert by_run.metadata == by_nbclient.metadata


def test_nbclient_stops_at_a_failure():
    nb = notebook('panic("on purpose")', "1")
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="on purpose"):
        nbclient.NotebookClient(nb, kernel_name="gocuda", timeout=120).execute()


def test_a_failed_cell_keeps_its_error(binary, tmp_path):
    nb, stderr = run(binary, notebook("1", 'panic("on purpose")', "3"), tmp_path, status=1)
    error = nb.cells[1].outputs[-1]
    assert error.output_type == "error" and "on purpose" in error.evalue
    assert "on purpose" in stderr and "2/3" in stderr
    assert nb.cells[2].outputs == [] and nb.cells[2].execution_count is None

    nb, _ = run(binary, nb, tmp_path, "--allow-errors")
    assert nb.cells[2].outputs[0].data["text/plain"] == "3"


def test_parameters(binary, tmp_path):
    cells = ["n := 4\nname := \"a\"\nvar size float32 = 1", "fmt.Println(n, name, size)"]
    nb = notebook(*cells)
    nb.cells[0].metadata["tags"] = ["parameters"]
    for values in (["8", "bob", "2"], ["9", "1.5", "2.5"]):
        options = [o for k, v in zip(["n", "name", "size"], values) for o in ("-p", f"{k}={v}")]
        nb, _ = run(binary, nb, tmp_path, *options)
        assert len(nb.cells) == 3
        assert nb.cells[1].metadata["tags"] == ["injected-parameters"]
        assert nb.cells[2].outputs[0].text == " ".join(values) + "\n"
    _, stderr = run(binary, nb, tmp_path, "-p", "n=text", status=1)
    assert "cannot use" in stderr


def test_parameters_by_papermill(tmp_path):
    source, out = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
    declared = new_code_cell(
        """import "math"
n, ratio, far, on, name := 1, 0.5, 1.0, false, ""
list, table := []int{}, [][]float64{}
ages := map[string]int{}""", metadata={"tags": ["parameters"]})
    nbformat.write(notebook(declared, "fmt.Printf(`%v %T %v %v %q %v %v %v`, n, ratio, math.IsInf(far, -1), on, name, list, table, ages)"), source)
    papermill.execute_notebook(str(source), str(out), progress_bar=False, parameters={
        "n": 3, "ratio": 2, "far": -float("inf"), "on": True, "name": 'a "b"\\\n\té{}', "list": [1, 2],
        "table": [[1], [2.5, 3]], "ages": {"x": 1}})
    shown = nbformat.read(out, as_version=4).cells[-1].outputs[0].text
    assert shown == '3 float64 true true "a \\"b\\"\\\\\\n\\té{}" [1 2] [[1] [2.5 3]] map[x:1]'


def test_papermill_declares_what_the_notebook_does_not(tmp_path, caplog):
    source, out = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
    nbformat.write(notebook(new_code_cell("const n = 1\nvar f float32", metadata={"tags": ["parameters"]}), "fmt.Print(n, m, f)"), source)
    papermill.execute_notebook(str(source), str(out), progress_bar=False, parameters={"m": 2, "n": 3})
    assert nbformat.read(out, as_version=4).cells[-1].outputs[0].text == "3 2 0"
    assert "Passed unknown parameter: m" in caplog.text and "parameter: n" not in caplog.text
    # Nor does one without such a cell, after one with it.
    nbformat.write(notebook("fmt.Print(n)"), source)
    papermill.execute_notebook(str(source), str(out), progress_bar=False, parameters={"n": 5})
    assert nbformat.read(out, as_version=4).cells[-1].outputs[0].text == "5"


def test_timeout(binary, tmp_path):
    nb, stderr = run(
        binary, notebook('fmt.Println("runs")\ntime.Sleep(time.Hour)', "2"), tmp_path, "--timeout", "5s", status=1
    )
    assert nb.cells[0].outputs[0].text == "runs\n"
    assert nb.cells[0].outputs[-1].ename == "Timeout" and "5s" in stderr


def test_a_notebook_runs_in_its_folder(binary, tmp_path):
    (tmp_path / "data.txt").write_text("here")
    nb, _ = run(binary, notebook('string(must(os.ReadFile("data.txt")))'), tmp_path)
    assert nb.cells[0].outputs[0].data["text/plain"] == '"here"'


def test_what_is_not_a_notebook(binary, tmp_path):
    bad = tmp_path / "bad.ipynb"
    bad.write_text("{")
    done = subprocess.run([binary, "run", bad], capture_output=True, text=True)
    assert done.returncode == 1 and "bad.ipynb" in done.stderr
    done = subprocess.run([binary, "run", tmp_path / "none.ipynb"], capture_output=True, text=True)
    assert done.returncode == 1 and "none.ipynb" in done.stderr


def test_tutorials_are_written_and_never_overwritten(binary, tmp_path):
    folder = tmp_path / "a" / "b"
    for _ in range(2):
        subprocess.run([binary, "tutorials", folder], check=True, stdout=subprocess.DEVNULL)
    assert [p.name for p in sorted(folder.iterdir())] == [*(p.name for p in NOTEBOOKS), "glossary.md"]
    changed = folder / NOTEBOOKS[0].name
    changed.write_text("mine")
    done = subprocess.run([binary, "tutorials", folder], capture_output=True, text=True)
    assert done.returncode == 1 and NOTEBOOKS[0].name in done.stderr
    assert changed.read_text() == "mine"
    subprocess.run([binary, "tutorials", folder, "--force"], check=True, stdout=subprocess.DEVNULL)
    assert changed.read_bytes() == NOTEBOOKS[0].read_bytes()


def test_papermill_knows_what_can_be_set(tmp_path):
    source = tmp_path / "source.ipynb"
    nb = new_notebook(cells=[new_code_cell(
        "// What to do\nvar (\n\tsamples = 1 << 20\n\tranks   = 0 // one for each GPU\n"
        "\turl string = \"https://a/b\" // where from\n)\nx := 'a'\nvar f float64 = 1.0 / 3\na, b := 1, true\nvar later int\nc, d, e := 1e6, []int{1, 2}, -0x1F\nm := map[string]int{}\ny := f(2)\nconst z = float32(2)",
        metadata={"tags": ["parameters"]})])
    nb.metadata["kernelspec"] = {"name": "gocuda", "display_name": "Go (CUDA)", "language": "go"}
    nbformat.write(nb, source)
    known = papermill.inspect_notebook(str(source))
    assert {n: (p["inferred_type_name"], p["default"], p["help"]) for n, p in known.items()} == {
        "samples": ("int", "1 << 20", ""), "ranks": ("int", "0", "one for each GPU"),
        "url": ("string", '"https://a/b"', "where from"), "x": ("rune", "'a'", ""), "f": ("float64", "1.0 / 3", ""),
        "a": ("int", "1", ""), "b": ("bool", "true", ""), "c": ("float64", "1e6", ""), "d": ("[]int", "[]int{1, 2}", ""),
        "e": ("int", "-0x1F", ""), "m": ("map[string]int", "map[string]int{}", ""), "y": ("None", "f(2)", ""), "z": ("float32", "float32(2)", ""),
    }


WIDGETS = ['s := widgets.IntSlider(widgets.Props{"description": "saved slider", "value": 41})\ns',
           's.SetValue(42)\nwidgets.Image(widgets.Props{"value": []byte("GIF89a"), "format": "gif"})']


@pytest.mark.parametrize("by", ["run", "nbclient"])
def test_widgets_are_saved_in_the_notebook(binary, tmp_path, by):
    nb = notebook(*WIDGETS)
    if by == "run":
        nb, _ = run(binary, nb, tmp_path)
    else:
        nbclient.NotebookClient(nb, kernel_name="gocuda", timeout=60).execute()
    nbformat.validate(nb)
    states = nb.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    view = nb.cells[0].outputs[0].data["application/vnd.jupyter.widget-view+json"]
    slider = states[view["model_id"]]
    assert slider["model_name"] == "IntSliderModel" and slider["state"]["value"] == 42
    assert slider["state"]["layout"].removeprefix("IPY_MODEL_") in states
    image = states[nb.cells[1].outputs[0].data["application/vnd.jupyter.widget-view+json"]["model_id"]]
    assert [(b["path"], b["data"]) for b in image["buffers"]] == [(["value"], "R0lGODlh")]
    page, _ = nbconvert.HTMLExporter().from_notebook_node(nb)
    assert '<script type="application/vnd.jupyter.widget-state+json">' in page and "saved slider" in page
    assert f'"model_id": "{view["model_id"]}"' in page


def test_the_site_shows_what_stands_for_a_widget():
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "x"}}
    outputs = [{"data": {**view, "text/html": "<b>a</b>"}}, {"data": {**view, "text/plain": "IntSlider()"}}, {"text": "printed"}]
    nb = prepare.still({"cells": [{"outputs": outputs}, {}]})
    assert [list(o.get("data", {})) for o in nb["cells"][0]["outputs"]] == [["text/html"], [*view, "text/plain"], []]


def test_the_kernel_captures_outputs(binary, tmp_path):
    """What an Output captures is in the saved states, and no client has to send it back: one
    that sends while it waits for a cell's reply may miss that (see records/jupyter.md)."""
    nb = notebook(
        'widgets.Interact(func(n int) any { fmt.Println("n is", n); return display.HTML("<b>bold</b>") }, 7)',
        'out := widgets.Output()\nout',
        'out.Capture(func() {\n\tfmt.Println("lost")\n\tdisplay.Clear(true)\n\tfor i := range 3 {\n\t\tfmt.Println("line", i)\n\t}\n})\nfmt.Println("cell")')
    nbformat.write(nb, tmp_path / "by_run.ipynb")
    client = nbclient.NotebookClient(nb, kernel_name="gocuda", timeout=100, resources={"metadata": {"path": tmp_path}})
    sent = []
    with client.setup_kernel():
        send = client.kc.session.send
        client.kc.session.send = lambda s, m, *a, **k: sent.append(m["msg_type"] if isinstance(m, dict) else m) or send(s, m, *a, **k)
        for i, cell in enumerate(nb.cells):
            client.execute_cell(cell, i)
    client.set_widgets_metadata()
    assert set(sent) == {"execute_request"}, sent
    subprocess.run([binary, "run", "-q", "--inplace", tmp_path / "by_run.ipynb"], check=True)
    for nb in nb, nbformat.read(tmp_path / "by_run.ipynb", as_version=4):
        states = nb.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
        captured, interact = sorted((s["state"]["outputs"] for s in states if s["model_name"] == "OutputModel"), key=len)
        assert [o.get("text") or o.data["text/html"] for o in interact] == ["n is 7\n", "<b>bold</b>"], interact
        assert [o.text for o in captured] == ["line 0\nline 1\nline 2\n"], captured
        assert [o.text for o in nb.cells[2].outputs] == ["cell\n"]
        page, _ = nbconvert.HTMLExporter().from_notebook_node(nb)
        assert r'"n is 7\n"' in page and r"line 1\nline 2\n" in page
