"""Looks at notebooks in JupyterLab, as they come from somebody else: not trusted, not run.
In the light and the dark theme and at several widths it prints pictures that are not
drawn, outputs that are cut off, and texts of outputs with too little contrast. It ends
with 1 if there is anything.

    python tests/check_lab.py notebooks/*.ipynb
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from selenium import webdriver

WIDTHS = [1280, 1000, 390]
THEMES = ["JupyterLab Light", "JupyterLab Dark"]

# What a reader does not see, or cannot read.
FOUND = """
const found = [];
const parse = c => { const v = (c.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number); return v.length > 3 ? v : [...v, 1]; };
const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
const light = c => { const [r, g, b] = c.map(x => (x /= 255) <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const cell = e => [...document.querySelectorAll('.jp-Notebook .jp-Cell')].indexOf(e.closest('.jp-Cell'));
const say = (what, e, more) => found.push([what, 'cell ' + cell(e), e.tagName.toLowerCase(), more, (e.alt || e.textContent || '').trim().slice(0, 60)]);
const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
for (const img of document.querySelectorAll('.jp-Notebook img')) {
  const box = img.getBoundingClientRect();
  if (!img.complete || !img.naturalWidth || !box.width || !box.height) say('not drawn', img, img.src.slice(0, 40));
}
for (const out of document.querySelectorAll('.jp-OutputArea-output, .jp-RenderedMarkdown')) {
  for (const e of [out, ...out.querySelectorAll('*')]) {
    const box = e.getBoundingClientRect();
    if (!box.width || !box.height || e.closest('.jp-mod-hidden, mjx-container')) continue;
    if (['hidden', 'clip'].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1) say('cut off', e, e.scrollWidth - e.clientWidth);
    if (!['IMG', 'TABLE', 'PRE', 'SVG'].includes(e.tagName.toUpperCase())) continue;
    let around = e.parentElement;
    while (around && !around.matches('.jp-Cell') && !scrolls(around)) around = around.parentElement;
    const edge = around.getBoundingClientRect();
    if (!scrolls(around) && !scrolls(e) && box.right > edge.right + 1) say('beyond the edge', e, Math.round(box.right - edge.right));
  }
  if (!out.matches('.jp-OutputArea-output')) continue;
  const walk = document.createTreeWalker(out, NodeFilter.SHOW_TEXT);
  for (let n; n = walk.nextNode();) {
    const p = n.parentElement;
    if (!n.textContent.trim() || !p.getBoundingClientRect().width || p.closest('style, script')) continue;
    const layers = [];
    for (let e = p; e; e = e.parentElement) layers.push(parse(getComputedStyle(e).backgroundColor));
    const back = layers.reverse().reduce((b, a) => over(a, b), [255, 255, 255, 1]);
    const a = light(over(parse(getComputedStyle(p).color), back)), b = light(back);
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) say('contrast ' + contrast.toFixed(1), p, '');
  }
}
return [document.querySelectorAll('.jp-Notebook img').length, found];
"""

OPEN = "const w = window.jupyterapp && window.jupyterapp.shell.currentWidget; return !!(w && w.content && w.content.widgets && w.context && w.context.isReady && w.title.label == arguments[0] && w.content.widgets.length == w.content.model.cells.length)"
DRAWN = "return window.jupyterapp.shell.currentWidget.content.widgets.every(c => c.isPlaceholder ? !c.isPlaceholder() : true)"

TRUSTED = "const cells = window.jupyterapp.shell.currentWidget.content.model.cells; return Array.from({length: cells.length}, (_, i) => cells.get(i)).some(c => c.type == 'code' && c.outputs.length && c.trusted)"


def serve(root):
    """A server of the folder, and its address."""
    settings = root / ".settings" / "@jupyterlab"
    for name, text in {"apputils-extension/notification": '{"fetchNews": "false"}', "notebook-extension/tracker": '{"windowingMode": "none"}'}.items():
        path = settings / (name + ".jupyterlab-settings")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    log = root / ".log"
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0", "--ip=127.0.0.1", f"--ServerApp.root_dir={root}",
         "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.expose_app_in_browser=True"],
        stdout=log.open("w"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=dict(os.environ, JUPYTERLAB_SETTINGS_DIR=str(root / ".settings")))
    while not (found := re.search(r"(http://127\.0\.0\.1:\d+)/lab\?token=(\w+)", log.read_text())):
        if server.poll() is not None:
            sys.exit(log.read_text())
        time.sleep(0.2)
    return server, found[1], found[2]


def until(browser, script, *args):
    end = time.monotonic() + 120
    while not browser.execute_script(script, *args):
        if time.monotonic() > end:
            raise TimeoutError(script)
        time.sleep(0.3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshots", type=pathlib.Path, help="a folder for pictures of the pages")
    parser.add_argument("notebooks", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    root = pathlib.Path(tempfile.mkdtemp())
    for path in options.notebooks:
        shutil.copy(path, root)
    server, address, token = serve(root)
    how = webdriver.ChromeOptions()
    how.binary_location = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])))
    for flag in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={WIDTHS[0]},1200"]:
        how.add_argument(flag)
    browser = webdriver.Chrome(options=how, service=webdriver.ChromeService(shutil.which("chromedriver")))
    browser.set_script_timeout(120)
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    count = 0
    try:
        for path in options.notebooks:
            browser.get(f"{address}/doc/workspaces/{path.stem}/tree/{path.name}?token={token}")
            until(browser, OPEN, path.name)
            until(browser, DRAWN)
            if browser.execute_script(TRUSTED):
                sys.exit(f"{path} is trusted: set HOME to a new folder")
            browser.execute_script("for (const e of document.querySelectorAll('.jp-Dialog')) e.remove();")  # which kernel?
            seen = {}
            for theme in THEMES:
                browser.execute_async_script("const done = arguments[1]; window.jupyterapp.commands.execute('apputils:change-theme', {theme: arguments[0]}).then(done)", theme)
                for width in WIDTHS:
                    # The page's width; a window is never narrower than 500.
                    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1200, "deviceScaleFactor": 1, "mobile": False})
                    time.sleep(1.5)
                    pictures, found = browser.execute_script(FOUND)
                    for f in found:
                        seen.setdefault(tuple(map(str, f)), []).append(f"{theme.split()[1].lower()} {width}")
                    if options.screenshots:
                        height = browser.execute_script("return Math.min(20000, document.querySelector('.jp-WindowedPanel-outer').scrollHeight + 200)")
                        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
                        time.sleep(1)
                        browser.save_screenshot(str(options.screenshots / f"{path.stem}-{theme.split()[1].lower()}-{width}.png"))
            print(f"{path.stem}: {pictures} pictures, {len(seen)} findings", flush=True)
            for what, where in seen.items():
                print("   " + "  ".join(what), "at", ", ".join(where))
            count += len(seen)
    finally:
        browser.quit()
        server.terminate()
        server.wait(30)
        shutil.rmtree(root)
    print(count, "findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
