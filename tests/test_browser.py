"""JupyterLab in a real, headless Chromium."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time

import nbformat
import pytest
from conftest import BINARY, BUILD, ROOT
from jupyter_client import BlockingKernelClient
from jupyter_core.paths import jupyter_runtime_dir
from nbformat.v4 import new_code_cell, new_notebook

CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
DRIVER = shutil.which("chromedriver")

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no chromium and chromedriver on PATH")
PATIENCE = 120


def patient(browser):
    """Waits; an element that is drawn again meanwhile is looked for again."""
    return WebDriverWait(browser, PATIENCE, ignored_exceptions=[NoSuchElementException, StaleElementReferenceException])


# What JupyterLab's model of the open notebook holds of errors. They are drawn like text
# on stderr, so the page does not tell them apart.
ERRORS = """return window.jupyterapp.shell.currentWidget.content.widgets.flatMap(
  c => c.model.outputs ? c.model.outputs.toJSON().filter(o => o.output_type === 'error').map(o => o.ename + ': ' + o.evalue) : [])"""

# The least contrast (WCAG 2.2, 1.4.3) of text in outputs that are errors.
CONTRAST = """
const parse = c => { const v = c.match(/[\\d.]+/g).map(Number); return v.length > 3 ? v : [...v, 1]; };
const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
const light = c => { const [r, g, b] = c.map(x => (x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const found = [];
for (const out of document.querySelectorAll('[data-mime-type="application/vnd.jupyter.stderr"]')) {
  const walk = document.createTreeWalker(out, NodeFilter.SHOW_TEXT);
  for (let n; n = walk.nextNode();) {
    if (!n.textContent.trim()) continue;
    const layers = [];
    for (let e = n.parentElement; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    const back = layers.reverse().reduce((b, a) => over(a, b), [255, 255, 255, 1]);
    const a = light(over(parse(getComputedStyle(n.parentElement).color), back)), b = light(back);
    found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), n.textContent.slice(0, 40)]);
  }
}
return found;
"""

# Cells that fail, each in another way.
FAILING = ["x := undefinedName", 'panic("oh")', "%nosuch", "l := []int{1}\nl[len(l)]", "%%bash\nexit 3", "must(cuda.Get(99))", "1 +",
           "%%cuda\n__global__ void k(int *x) { y = 1; }"]

# Outputs that a colleague's notebook holds, which is not trusted.
SENT = [
    'plot.Bars(plot.Axes{Title: "bars"}, []string{"a", "b"}, []float64{1, 2})',
    'plot.Heatmap(plot.Axes{Title: "heat"}, []string{"0", "1"}, []string{"0", "1"}, [][]float64{{1, 2}, {3, 4}})',
    "%%timeline drawn\nmust(must(must(cuda.Get(0)).Alloc(1<<20, cuda.Float32)).Memset(0), nil)",
    'display.SVG("<svg width=\'40\' height=\'40\'><text>inside</text></svg>")',
]

# Cells of several languages, and what JupyterLab is to take them for.
LANGUAGES = [
    ("func f() {}", "text/x-go"), ("%%cuda\n__global__ void k(float *x) {}", "text/x-c++src"), ("%%bash\nls", "text/x-sh"),
    ("%%html\n<b>x</b>", "text/html"), ("%%kernel\nfunc k(x []float32) {}", "text/x-go"), ("%%mpi\n%%cuda\nint x;", "text/x-c++src"),
    ("%%writefile a.py\nx = 1", "text/x-python"), ("%%time\nx := 1", "text/x-go"),
]

TUTORIALS = ["03_peer_access.ipynb", "09_jacobi.ipynb"]

CELLS = [
    'greeting := "seen in the browser"\nfmt.Println(greeting, 6*7)',
    'display.HTML("<table id=\'made-by-go\'><tr><td>cell of a table</td></tr></table>")',
    'display.SVG("<svg xmlns=\'http://www.w3.org/2000/svg\' width=\'40\' height=\'40\'><circle id=\'round\' cx=\'20\' cy=\'20\' r=\'18\' fill=\'teal\'/></svg>")',
    'fmt.Sprint("devices: ", len(must(cuda.Devices())))',
    'panic("red in the browser")',
]

# Widgets that ipywidgets' front end draws; their events are Go functions.
WIDGETS = [
    's := widgets.IntSlider(widgets.Props{"description": "moved", "max": 10})\n'
    'said := widgets.Label(widgets.Props{"value": "nothing yet"})\n'
    'if err := s.OnChange(func(v int) { said.SetValue(fmt.Sprint("Go saw ", v)) }); err != nil {\n\tpanic(err)\n}\n'
    'widgets.VBox(s, said)',
    'clicks := 0\nb := widgets.Button(widgets.Props{"description": "press me"})\nout := widgets.Output()\n'
    'b.OnClick(func() {\n\tclicks++\n\tout.Capture(func() { fmt.Println("click", clicks) })\n})\nwidgets.HBox(b, out)',
    'widgets.Interact(func(n int, late bool) any { return fmt.Sprint("n*n = ", n*n, ", ", late) }, widgets.Between(0, 9))',
    'widgets.Any("export default { render({ model, el }) { const b = document.createElement(\'button\'); b.id = \'mine\'; '
    'b.textContent = model.get(\'count\'); b.onclick = () => { model.set(\'count\', model.get(\'count\') + 1); model.save_changes(); }; '
    'model.on(\'change:count\', () => { b.textContent = model.get(\'count\'); }); el.append(b); } }", "", widgets.Props{"count": 40})',
    's.Int(), clicks',
    'for s.Int() < 5 {\n}\nfmt.Println("the loop saw", s.Int())',
]

# Cells beside which a console runs others.
BESIDE = [
    'held := make(chan string)\nn := 0\nfmt.Println("set up")',
    'fmt.Println("waits")\nfor n == 0 {\n\ttime.Sleep(time.Millisecond)\n}\nfmt.Println("got", <-held)',
    'for {\n\tn++\n}',
]

# Cells that JupyterLab's debugger stops in.
DEBUGGED = [
    "func square(x int) int {\n\ty := x * x\n\treturn y\n}",
    "total, half := 0, float32(0.5)\nfor i := range 3 {\n\ttotal += square(i)\n}\nfmt.Println(\"total\", total)",
    "%mpi start -n 4 --launcher local",
    '%%mpi\nx := rank * 10\nworld.Barrier()\nif rank == 2 {\n\tx++\n}\nfmt.Println("rank", rank, "has", x)',
]

# Cells that the language server looks at, and which are not run.
WRITTEN = [
    'import "strings"\nshout := strings.ToUpper("abc")',
    "%%kernel\nfunc twice(v []float32) {\n\tv[gpu.ThreadIdx.X] *= 2\n}",
    'y := len(shout) + unheard\nvar s string = 5\nfmt.Println(y, twice)',
    "strings.",
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A JupyterLab server; its address, with the token."""
    root = tmp_path_factory.mktemp("lab")
    nb = new_notebook(metadata={"kernelspec": {
        "name": "gocuda", "display_name": "Go (CUDA)", "language": "go"}})
    nb.cells = [new_code_cell(c) for c in CELLS]
    nbformat.write(nb, root / "browser.ipynb")
    nb.cells = [new_code_cell(c) for c in WIDGETS]
    nbformat.write(nb, root / "widgets.ipynb")
    nb.cells = [new_code_cell(c) for c in BESIDE]
    nbformat.write(nb, root / "beside.ipynb")
    nb.cells = [new_code_cell(c) for c in DEBUGGED]
    nbformat.write(nb, root / "debugged.ipynb")
    nb.cells = [new_code_cell(c) for c in FAILING]
    nbformat.write(nb, root / "failing.ipynb")
    nb.cells = [new_code_cell(c) for c, _ in LANGUAGES]
    nbformat.write(nb, root / "languages.ipynb")
    nb.cells = [new_code_cell(c) for c in SENT]
    nbformat.write(nb, root / "sent.ipynb")
    subprocess.run([BINARY, "run", root / "sent.ipynb", "-o", root / "sent.ipynb"], check=True)
    nb.cells = [new_code_cell(c) for c in WRITTEN]
    nbformat.write(nb, root / "written.ipynb")
    for name in TUTORIALS:
        nb = nbformat.read(ROOT / "notebooks" / name, as_version=4)
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        nbformat.write(nb, root / name)
    log_file = tmp_path_factory.mktemp("log") / "lab.log"
    log = open(log_file, "w")
    quiet = tmp_path_factory.mktemp("settings") / "@jupyterlab" / "apputils-extension"
    quiet.mkdir(parents=True)
    (quiet / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    # All cells are in the page, not only those in view.
    whole = quiet.parent / "notebook-extension"
    whole.mkdir()
    (whole / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0",
         "--ip=127.0.0.1", f"--ServerApp.root_dir={root}",
         "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
         "--LabApp.expose_app_in_browser=True"],
        stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        env=dict(os.environ, JUPYTERLAB_SETTINGS_DIR=str(quiet.parent.parent)),
    )
    try:
        end = time.monotonic() + PATIENCE
        while True:
            text = log_file.read_text()
            found = re.search(r"(http://127\.0\.0\.1:\d+)/lab\?token=(\w+)", text)
            if found:
                break
            assert server.poll() is None and time.monotonic() < end, text
            time.sleep(0.2)
        yield found[1], found[2]
    finally:
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()


@pytest.fixture
def browser(tmp_path):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--disable-dev-shm-usage", "--window-size=1400,1200", f"--user-data-dir={tmp_path / 'profile'}",
    ]:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def test_cells_run_and_show_in_jupyterlab(lab, browser):
    server, token = lab
    wait = patient(browser)
    try:
        browser.get(f"{server}/lab/workspaces/browser/tree/browser.ipynb?token={token}")
        cells = wait.until(lambda b: len(b.find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-CodeCell")) == len(CELLS)
                           and b.find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-CodeCell"))
        # Before the kernel is ready, JupyterLab drops what is run.
        wait.until(lambda b: "Go (CUDA) | Idle" in b.find_element(By.CSS_SELECTOR, "#jp-main-statusbar").text)
        cells[0].find_element(By.CSS_SELECTOR, ".cm-content").click()
        for _ in CELLS:
            ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()

        def shows(text):
            wait.until(lambda b: any(text in e.text for e in b.find_elements(By.CSS_SELECTOR, ".jp-OutputArea-output")),
                       f"no output shows {text!r}")

        shows("seen in the browser 42")
        shows("cell of a table")
        wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, '.jp-RenderedHTML img[src^="data:image/svg+xml"]'))
        shows("devices: 4")
        shows("red in the browser")
        wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, "#made-by-go"))
    finally:
        browser.save_screenshot(str(BUILD / "jupyterlab.png"))
        print("screenshot:", os.path.join("build", "jupyterlab.png"))


def opened(browser, server, token, name):
    """Opens a notebook, and waits for its kernel."""
    wait = patient(browser)
    browser.get(f"{server}/lab/workspaces/{name}/tree/{name}.ipynb?token={token}")
    wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-CodeCell"))
    wait.until(lambda b: "Go (CUDA) | Idle" in b.find_element(By.CSS_SELECTOR, "#jp-main-statusbar").text)
    return wait


def theme(browser, name):
    browser.execute_async_script(
        "const done = arguments[1]; window.jupyterapp.commands.execute('apputils:change-theme', {theme: arguments[0]}).then(done)", name)
    patient(browser).until(lambda b: b.find_element(By.CSS_SELECTOR, "body").get_attribute("data-jp-theme-name") == name)


def test_errors_can_be_read(lab, browser):
    """Errors of every kind, in both themes; and what finds errors in a notebook finds these."""
    wait = opened(browser, *lab, "failing")
    for cell in browser.find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-CodeCell"):
        cell.find_element(By.CSS_SELECTOR, ".cm-content").click()
        n = len(browser.execute_script(ERRORS))
        ActionChains(browser).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
        wait.until(lambda b: len(b.execute_script(ERRORS)) > n, "an error is not found")
    for name in ["JupyterLab Light", "JupyterLab Dark"]:
        theme(browser, name)
        time.sleep(1)  # colours change gradually
        found = browser.execute_script(CONTRAST)
        assert len(found) > len(FAILING), found
        least = min(found)
        assert least[0] >= 4.5, (name, least)
    theme(browser, "JupyterLab Light")


def test_languages_of_cells(lab, browser):
    """Magics name a cell's language: its colours, and the comments of Ctrl-/. Enter indents by a tab."""
    wait = opened(browser, *lab, "languages")
    model = "const cells = window.jupyterapp.shell.currentWidget.content.model.cells; const all = Array.from({length: cells.length}, (_, i) => cells.get(i));"
    types = lambda: browser.execute_script(model + "return all.map(c => c.mimeType)")
    wait.until(lambda b: types() == [t for _, t in LANGUAGES], "the cells have other types")
    source = lambda i: browser.execute_script(model + "return all[arguments[0]].sharedModel.getSource()", i)
    editor = lambda i: browser.find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-CodeCell")[i].find_element(By.CSS_SELECTOR, ".cm-content")

    wait.until(lambda b: editor(1).find_elements(By.CSS_SELECTOR, ".cm-line span"), "%%cuda has no colours")
    for i, want in [(1, "// __global__ void k(float *x) {}"), (2, "# ls"), (3, "<!-- <b>x</b> -->")]:
        editor(i).click()
        ActionChains(browser).key_down(Keys.CONTROL).send_keys(Keys.END, "/").key_up(Keys.CONTROL).perform()
        wait.until(lambda b: source(i).split("\n")[-1] == want, f"{source(i)!r}, want {want!r}")
    editor(0).click()
    ActionChains(browser).key_down(Keys.CONTROL).send_keys(Keys.END).key_up(Keys.CONTROL).send_keys(Keys.LEFT, Keys.ENTER, "x").perform()
    wait.until(lambda b: "{\n\tx" in source(0), source(0))
    # A cell changes its language with its first line, and new cells have one.
    editor(7).click()
    ActionChains(browser).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys("%%html").perform()
    wait.until(lambda b: types()[7] == "text/html")


def test_pictures_of_a_notebook_that_is_not_trusted(lab, browser):
    """They are drawn, and their words are in no text of the page."""
    opened(browser, *lab, "sent")
    outputs = browser.find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-OutputArea-output")
    assert browser.execute_script("return window.jupyterapp.shell.currentWidget.content.model.cells.get(0).trusted") is False
    drawn = browser.execute_script(
        "return Array.from(document.querySelectorAll('.jp-OutputArea-output img'), e => [e.naturalWidth, e.getBoundingClientRect().width])")
    assert len(drawn) == len(SENT) and all(n > 0 and w > 0 for n, w in drawn), drawn
    said = " ".join(e.text for e in outputs)
    assert "inside" not in said and "1 box in" in said, said


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_runs_to_its_end_in_jupyterlab(lab, browser, name):
    server, token = lab
    wait = patient(browser)
    try:
        # A workspace of its own: others' notebooks are not opened again.
        browser.get(f"{server}/lab/workspaces/{name.removesuffix('.ipynb')}/tree/{name}?token={token}")
        wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, ".jp-Notebook .jp-CodeCell"))
        wait.until(lambda b: "Go (CUDA) | Idle" in b.find_element(By.CSS_SELECTOR, "#jp-main-statusbar").text)
        next(e for e in browser.find_elements(By.CSS_SELECTOR, ".lm-MenuBar-item") if e.text == "Run").click()
        wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, '[data-command="runmenu:run-all"]'))[0].click()

        def texts(selector):  # in one step: JupyterLab draws again at any time
            return browser.execute_script(
                "return Array.from(document.querySelectorAll(arguments[0]), e => e.textContent)", selector)

        def errors():
            return browser.execute_script(ERRORS)

        def prompts():
            # Judges are folded: their prompts are not drawn.
            return [p for p in texts(".jp-Notebook .jp-CodeCell .jp-InputPrompt") if p.strip()]

        wait.until(lambda b: errors() or all(re.fullmatch(r"\[\d+\]:", p) for p in prompts()), "a cell did not end")
        assert not errors()
        for kind in ["table", ".jp-RenderedHTML img"]:
            shown = browser.find_elements(By.CSS_SELECTOR, f".jp-OutputArea-output :is({kind})")
            assert any(e.size["width"] > 100 and e.size["height"] > 50 for e in shown), f"no {kind} to be seen"
    finally:
        # One picture of the whole notebook.
        height = browser.execute_script(
            "const w = document.querySelector('.jp-WindowedPanel-outer'); return w ? w.scrollHeight : 1000")
        browser.set_window_size(1400, min(height + 200, 12000))
        browser.execute_script("document.querySelector('.jp-WindowedPanel-outer')?.scrollTo(0, 0)")
        time.sleep(1)
        picture = "jupyterlab-" + name.removesuffix(".ipynb") + ".png"
        browser.save_screenshot(str(BUILD / picture))
        print("screenshot:", os.path.join("build", picture))


def test_widgets(lab, browser):
    server, token = lab
    wait = patient(browser)
    find = lambda css: browser.find_elements(By.CSS_SELECTOR, css)
    try:
        browser.get(f"{server}/lab/workspaces/widgets/tree/widgets.ipynb?token={token}")
        wait.until(lambda b: len(find(".jp-Notebook .jp-CodeCell")) == len(WIDGETS))
        wait.until(lambda b: "Go (CUDA) | Idle" in b.find_element(By.CSS_SELECTOR, "#jp-main-statusbar").text)
        find(".jp-Notebook .jp-CodeCell")[0].find_element(By.CSS_SELECTOR, ".cm-content").click()
        run = lambda: ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
        for _ in WIDGETS[:-2]:
            run()
        outputs = lambda text: wait.until(lambda b: any(text in e.text for e in find(".jp-OutputArea-output")), f"no output shows {text!r}")

        # A slider moves a variable of Go, and Go moves a label.
        wait.until(lambda b: find(".widget-slider .noUi-handle"))
        ActionChains(browser).click(find(".widget-slider .noUi-handle")[0]).send_keys(Keys.ARROW_RIGHT * 3).perform()
        outputs("Go saw 3")

        # A button; what its function prints is in the Output.
        wait.until(lambda b: [e for e in find("button.widget-button") if e.text == "press me"])[0].click()
        outputs("click 1")

        # Interact: its controls have the names of the function's parameters.
        outputs("n*n = 0, false")
        labels = [e.text for e in find(".widget-interact .widget-label")]
        assert labels[:1] == ["n"] and "late" in [e.text for e in find(".widget-interact .widget-checkbox")], labels
        find(".widget-interact input[type=checkbox]")[0].click()
        outputs("n*n = 0, true")

        # A widget of one's own.
        wait.until(lambda b: find("#mine"))[0].click()
        wait.until(lambda b: find("#mine")[0].text == "41")

        find(".jp-Notebook .jp-CodeCell")[-2].find_element(By.CSS_SELECTOR, ".cm-content").click()
        run()
        outputs("3, 1")

        # A cell that computes sees the slider move.
        run()
        wait.until(lambda b: "Go (CUDA) | Busy" in b.find_element(By.CSS_SELECTOR, "#jp-main-statusbar").text)
        ActionChains(browser).click(find(".widget-slider .noUi-handle")[0]).send_keys(Keys.ARROW_RIGHT * 2).perform()
        outputs("the loop saw 5")
        assert subshells(browser), "JupyterLab sent the widgets' messages to the main shell"

        # A page that is loaded again has what the Outputs captured, and shows more.
        ActionChains(browser).key_down(Keys.CONTROL).send_keys("s").key_up(Keys.CONTROL).perform()
        wait.until(lambda b: not b.execute_script("return window.jupyterapp.shell.currentWidget.context.model.dirty"))
        browser.refresh()
        wait.until(lambda b: [e for e in find("button.widget-button") if e.text == "press me"])
        outputs("n*n = 0, true")
        outputs("click 1")
        [e for e in find("button.widget-button") if e.text == "press me"][0].click()
        outputs("click 1\nclick 2")
        BUILD.mkdir(exist_ok=True)
        browser.save_screenshot(str(BUILD / "widgets.png"))
    except BaseException:
        browser.save_screenshot(str(BUILD / "widgets-failed.png"))
        raise


def subshells(browser):
    """The subshells of the open notebook's kernel, which another client asks for."""
    kernel = browser.execute_script("return window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.id")
    kc = BlockingKernelClient(connection_file=os.path.join(jupyter_runtime_dir(), f"kernel-{kernel}.json"))
    kc.load_connection_file()
    kc.start_channels()
    try:
        kc.control_channel.send(kc.session.msg("list_subshell_request"))
        return kc.get_control_msg(timeout=PATIENCE)["content"]["subshell_id"]
    finally:
        kc.stop_channels()


def test_a_console_beside_a_cell(lab, browser):
    """JupyterLab's console of a subshell answers, completes, inspects and runs cells while
    the notebook's cell runs; an interrupt and a restart leave both usable."""
    server, token = lab
    wait = patient(browser)
    find = lambda css: browser.find_elements(By.CSS_SELECTOR, css)
    run = lambda: ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
    shows = lambda css, text: wait.until(lambda b: any(text in e.text for e in find(css)), f"{css} does not show {text!r}")
    notebook = ".jp-Notebook .jp-OutputArea-output"
    console = ".jp-CodeConsole-content .jp-OutputArea-output"
    prompt = lambda: find(".jp-CodeConsole-input .cm-content")[0]
    busy = lambda: browser.execute_script("return window.kernelOfNotebook.status") == "busy"
    try:
        browser.get(f"{server}/lab/workspaces/beside/tree/beside.ipynb?token={token}")
        wait.until(lambda b: len(find(".jp-Notebook .jp-CodeCell")) == len(BESIDE))
        wait.until(lambda b: "Go (CUDA) | Idle" in b.find_element(By.CSS_SELECTOR, "#jp-main-statusbar").text)
        browser.execute_script("window.kernelOfNotebook = window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel")
        find(".jp-Notebook .jp-CodeCell")[0].find_element(By.CSS_SELECTOR, ".cm-content").click()
        run()
        run()
        shows(notebook, "waits")
        browser.execute_script("window.jupyterapp.commands.execute('notebook:create-subshell-console')")
        wait.until(lambda b: find(".jp-CodeConsole-input .cm-content"))

        def enter(code):
            wait.until(lambda b: prompt().text.strip() == "")
            prompt().click()
            ActionChains(browser).send_keys(code).perform()
            run()

        enter('fmt.Println("beside", n)')
        shows(console, "beside 0")
        prompt().click()
        ActionChains(browser).send_keys("fmt.Printl", Keys.TAB).perform()
        wait.until(lambda b: prompt().text == "fmt.Println" or find(".jp-Completer:not(.lm-mod-hidden)"))
        ActionChains(browser).send_keys(Keys.ESCAPE).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys(Keys.DELETE).perform()
        enter('n = 1')
        enter('held <- "a value from beside"')
        shows(notebook, "got a value from beside")
        assert not any("got" in e.text for e in find(console))

        # Both run; the interrupt is the notebook's cell's, and the next one the console's.
        find(".jp-Notebook .jp-CodeCell")[2].find_element(By.CSS_SELECTOR, ".cm-content").click()
        run()
        enter('fmt.Println("loops beside")\nfor {\n}')
        shows(console, "loops beside")
        interrupt = "window.kernelOfNotebook.interrupt()"
        browser.execute_script(interrupt)
        shows(notebook, "interrupted")
        assert not any("interrupted" in e.text for e in find(console))
        browser.execute_script(interrupt)
        shows(console, "interrupted")
        browser.save_screenshot(str(BUILD / "beside.png"))

        browser.execute_script("window.kernelOfNotebook.restart()")
        find(".jp-Notebook .jp-CodeCell")[0].find_element(By.CSS_SELECTOR, ".cm-content").click()
        wait.until(lambda b: not busy())
        run()
        wait.until(lambda b: find(".jp-Notebook .jp-CodeCell")[0].find_element(By.CSS_SELECTOR, ".jp-InputPrompt").text == "[1]:")
    except BaseException:
        browser.save_screenshot(str(BUILD / "beside-failed.png"))
        raise


def test_debugger(lab, browser):
    server, token = lab
    wait = patient(browser)
    find = lambda css: browser.find_elements(By.CSS_SELECTOR, css)
    run = lambda: ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
    # In one step: JupyterLab draws again at any time.
    text = lambda css: browser.execute_script(
        "return Array.from(document.querySelectorAll(arguments[0]), e => e.textContent).join(' ')", css)
    press = lambda command: wait.until(lambda b: [
        e for e in find(f'.jp-DebuggerSidebar [data-command="debugger:{command}"]') if e.get_attribute("aria-disabled") != "true"])[0].click()
    try:
        browser.get(f"{server}/lab/workspaces/debugged/tree/debugged.ipynb?token={token}")
        wait.until(lambda b: len(find(".jp-Notebook .jp-CodeCell")) == len(DEBUGGED))
        wait.until(lambda b: "Go (CUDA) | Idle" in b.find_element(By.CSS_SELECTOR, "#jp-main-statusbar").text)
        find(".jp-Notebook .jp-CodeCell")[0].find_element(By.CSS_SELECTOR, ".cm-content").click()
        run()  # before the debugger is on

        wait.until(lambda b: find(".jp-DebuggerBugButton"))[0].click()
        wait.until(lambda b: find(".jp-DebuggerSidebar"))
        gutter = lambda cell: find(".jp-Notebook .jp-CodeCell")[cell].find_elements(By.CSS_SELECTOR, ".cm-breakpoint-gutter .cm-gutterElement")
        for cell, line in [(0, 3), (1, 3)]:
            wait.until(lambda b: len(gutter(cell)) > line)
            gutter(cell)[line].click()
        wait.until(lambda b: len(find(".jp-DebuggerBreakpoint")) == 2)

        find(".jp-Notebook .jp-CodeCell")[1].find_element(By.CSS_SELECTOR, ".cm-content").click()
        run()
        wait.until(lambda b: "In[2]" in text(".jp-DebuggerCallstack"), "it does not stop")
        wait.until(lambda b: "total" in text(".jp-DebuggerVariables"))
        assert re.search(r"half\W*0\.5", text(".jp-DebuggerVariables")), text(".jp-DebuggerVariables")
        BUILD.mkdir(exist_ok=True)
        browser.save_screenshot(str(BUILD / "debugger-cell.png"))

        press("evaluate")  # the console by which JupyterLab changes a variable
        prompt = wait.until(lambda b: find(".jp-CodeConsole-promptCell .cm-content"))[-1]
        prompt.click()
        ActionChains(browser).send_keys("total = 100").perform()
        run()
        wait.until(lambda b: re.search(r"total\W*100", text(".jp-DebuggerVariables")), "the variable is not changed")
        browser.save_screenshot(str(BUILD / "debugger-changed.png"))
        press("evaluate")  # closes it
        press("stepIn")
        wait.until(lambda b: "square (In[1])" in text(".jp-DebuggerCallstack"))
        press("next")
        press("continue")
        wait.until(lambda b: re.search(r"y\W*0", text(".jp-DebuggerVariables")), "y is not shown")
        browser.save_screenshot(str(BUILD / "debugger-function.png"))

        def continued(shown):
            def look(_):
                for e in find('.jp-DebuggerSidebar [data-command="debugger:continue"]'):
                    if e.get_attribute("aria-disabled") != "true":
                        e.click()
                return shown in text(".jp-OutputArea-output")
            return look

        wait.until(continued("total 105"), "it does not go on to its end, or the variable was not changed")

        for cell in (2, 3):  # four ranks, of which one comes to the breakpoint
            find(".jp-Notebook .jp-CodeCell")[cell].find_element(By.CSS_SELECTOR, ".cm-content").click()
            if cell == 3:
                wait.until(lambda b: len(gutter(3)) > 5)
                gutter(3)[5].click()
                wait.until(lambda b: len(find(".jp-DebuggerBreakpoint")) == 3)
            run()
            wait.until(lambda b: cell == 3 or "ranks are running" in text(".jp-OutputArea-output"))
        wait.until(lambda b: "In[4], rank 2" in text(".jp-DebuggerCallstack"), "rank 2 does not stop")
        wait.until(lambda b: re.search(r"x\W*20", text(".jp-DebuggerVariables")), "x of rank 2 is not shown")
        browser.save_screenshot(str(BUILD / "debugger-rank.png"))
        press("next")
        wait.until(lambda b: re.search(r"x\W*21", text(".jp-DebuggerVariables")), "the step does not show")
        wait.until(continued("rank 2 has 21"), "the rank does not go on")
    except BaseException:
        browser.save_screenshot(str(BUILD / "debugger-failed.png"))
        raise


@pytest.mark.skipif(not importlib.util.find_spec("jupyterlab_lsp"), reason="pip install jupyterlab-lsp==5.2.0 into this environment")
def test_mistakes_are_underlined_as_one_types(lab, browser):
    """jupyterlab-lsp, which the kernel's installation has registered the language server with."""
    server, token = lab
    wait = patient(browser)
    find = lambda css: browser.find_elements(By.CSS_SELECTOR, css)
    underlined = lambda: [e.text for e in find(".cm-lintRange-error")]
    try:
        browser.get(f"{server}/lab/workspaces/written/tree/written.ipynb?token={token}")
        wait.until(lambda b: underlined()[:2] == ["unheard", "5"])
        # As by a mouse with Ctrl held, left of "abc" in strings.ToUpper("abc").
        point = """
            const text = [...document.querySelectorAll(".jp-CodeCell .cm-line span")].find(e => e.textContent == '"abc"').getBoundingClientRect();
            const at = {bubbles: true, ctrlKey: true, view: window, clientX: text.left - 20, clientY: text.top + text.height / 2};
            document.elementFromPoint(at.clientX, at.clientY).dispatchEvent(new MouseEvent("mousemove", at));
            return [...document.querySelectorAll(".jp-Tooltip")].map(e => e.textContent).join();"""
        wait.until(lambda b: "func ToUpper(s string) string" in b.execute_script(point), "no hover")
        BUILD.mkdir(exist_ok=True)
        browser.save_screenshot(str(BUILD / "written-hover.png"))

        # What is typed is looked at, before any cell has run.
        find(".jp-Notebook .jp-CodeCell")[3].find_element(By.CSS_SELECTOR, ".cm-content").click()
        ActionChains(browser).key_down(Keys.CONTROL).send_keys(Keys.END).key_up(Keys.CONTROL).send_keys("ToL", Keys.TAB).perform()
        wait.until(lambda b: any("ToLower" in e.text for e in find(".jp-Completer")))
        browser.save_screenshot(str(BUILD / "written.png"))
        ActionChains(browser).send_keys(Keys.ENTER).send_keys("(mistyped)").perform()
        wait.until(lambda b: "mistyped" in underlined())
        assert not find(".jp-Notebook .jp-OutputArea-output")
    except BaseException:
        browser.save_screenshot(str(BUILD / "written-failed.png"))
        raise
