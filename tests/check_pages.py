"""Looks at notebooks as nbconvert's HTML, in Chromium at 1,000 pixels: what is clipped
or wider than the page, texts of a figure that lie on one another, and what axe-core
finds against accessibility. It prints what it finds, and how many; it ends with 1 if
there is anything. Findings on an empty notebook are nbconvert's own: they are counted
apart.

    npm pack axe-core@4.10.3 && tar xzf axe-core-4.10.3.tgz
    python tests/check_pages.py --axe package/axe.min.js notebooks/*.ipynb
"""

import argparse
import collections
import pathlib
import shutil
import sys
import tempfile

import nbformat
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from selenium import webdriver

WIDTH = 1000

# Boxes that hold more than they show, and pictures and tables beyond the page.
CLIPPED = """
const found = [], wide = document.documentElement.clientWidth;
for (const e of document.querySelectorAll('.jp-Cell *')) {
  if (e.closest('svg') && e.tagName.toLowerCase() != 'svg') continue;
  const box = e.getBoundingClientRect(), style = getComputedStyle(e);
  if (!box.width || !box.height) continue;
  const hides = ['auto', 'scroll', 'hidden', 'clip'].includes(style.overflowX);
  const media = ['svg', 'img', 'table', 'canvas'].includes(e.tagName.toLowerCase());
  if (hides && e.scrollWidth > e.clientWidth + 1 || media && box.right > wide + 1)
    found.push([e.tagName + '.' + (e.getAttribute('class') || ''), Math.round(Math.max(e.scrollWidth - e.clientWidth, box.right - wide)), (e.textContent || '').trim().slice(0, 70)]);
}
return found;
"""

# Texts of one figure whose boxes share more than a little, texts beyond its edge, and
# names of rows that are cut off.
# Pictures are images in the page. As elements their texts can be measured.
INLINE = """
for (const img of document.querySelectorAll('img[src^="data:image/svg+xml;base64,"]')) {
  const bytes = Uint8Array.from(atob(img.src.split(',')[1]), c => c.charCodeAt(0));
  const svg = new DOMParser().parseFromString(new TextDecoder().decode(bytes), 'image/svg+xml').documentElement;
  for (const e of svg.querySelectorAll('style')) e.remove();
  img.replaceWith(svg);
}
return document.querySelectorAll('svg text').length;
"""

OVERPRINTED = """
const found = [];
for (const svg of document.querySelectorAll('svg')) {
  const edge = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim() && t.getBBox().width).map(t => [t, t.getBoundingClientRect()]);
  for (let i = 0; i < texts.length; i++) {
    const [t, a] = texts[i];
    if (t.getAttribute('text-anchor') == 'end' && t.textContent.trim().endsWith('…'))
      found.push(['cut off', t.textContent.trim().slice(-40), '']);
    if (a.left < edge.left - 2 || a.right > edge.right + 2 || a.top < edge.top - 2 || a.bottom > edge.bottom + 2)
      found.push(['beyond the edge', t.textContent.trim().slice(0, 40), '']);
    for (let k = i + 1; k < texts.length; k++) {
      const b = texts[k][1];
      if (t.getAttribute('transform') || texts[k][0].getAttribute('transform')) continue;
      const w = Math.min(a.right, b.right) - Math.max(a.left, b.left), h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (w > 2 && h > 0.4 * Math.min(a.height, b.height))
        found.push(['on one another', t.textContent.trim().slice(0, 40), texts[k][0].textContent.trim().slice(0, 40)]);
    }
  }
}
return found;
"""

AXE = """
const done = arguments[0];
const where = e => e.closest('.highlight') ? 'code' : e.closest('.jp-OutputArea') ? 'output' : e.closest('.jp-RenderedMarkdown') ? 'text' : 'page';
axe.run(document, {resultTypes: ['violations'], elementRef: true}).then(r => done(r.violations.flatMap(
  v => v.nodes.map(n => [v.id, v.impact, where(n.element) + ' ' + n.element.tagName, n.html.slice(0, 160), (n.failureSummary || '').replace(/\\s+/g, ' ').slice(0, 200)]))), e => done([['axe', 'critical', '', String(e), '']]));
"""


def empty():
    nb = new_notebook(metadata={"kernelspec": {"name": "gocuda", "display_name": "Go (CUDA)", "language": "go"}, "language_info": {"name": "go"}})
    nb.cells = [
        new_markdown_cell("# Title\n\nText with `code` and [a link](https://go.dev/).\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
        new_code_cell('// comment\nvar x = "text" + f(1, 0.5)\nx', execution_count=1, outputs=[new_output("stream", text="text\n"), new_output("execute_result", execution_count=1, data={"text/plain": "text"})]),
    ]
    return nb


def kind(finding):
    """What a finding is about: its rule, and the kind of place."""
    return finding[0], finding[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--axe", help="axe.min.js of axe-core")
    parser.add_argument("--impact", default="serious,critical", help="which of axe-core's findings count")
    parser.add_argument("--screenshots", type=pathlib.Path, help="a folder for pictures of the pages")
    parser.add_argument("notebooks", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    how = webdriver.ChromeOptions()
    how.binary_location = chromium
    for flag in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", f"--window-size={WIDTH},1400"]:
        how.add_argument(flag)
    browser = webdriver.Chrome(options=how, service=webdriver.ChromeService(shutil.which("chromedriver")))
    browser.set_script_timeout(300)
    folder = pathlib.Path(tempfile.mkdtemp())
    count = 0
    try:
        def look(nb, name):
            page = folder / (name + ".html")
            page.write_text(HTMLExporter(exclude_input_prompt=False).from_notebook_node(nb, resources={"metadata": {"name": name}})[0])
            browser.get(page.as_uri())
            browser.execute_script("for (const d of document.querySelectorAll('details')) d.open = true;")
            if options.screenshots:
                options.screenshots.mkdir(parents=True, exist_ok=True)
                height = browser.execute_script("return document.documentElement.scrollHeight")
                browser.set_window_size(WIDTH, height)
                browser.save_screenshot(str(options.screenshots / (name + ".png")))
                browser.set_window_size(WIDTH, 1400)
            findings = []
            if options.axe:
                browser.execute_script(pathlib.Path(options.axe).read_text())
                findings = browser.execute_async_script(AXE)
            clipped = browser.execute_script(CLIPPED)
            browser.execute_script(INLINE)
            return clipped, browser.execute_script(OVERPRINTED), findings

        own = {kind(f) for f in look(empty(), "empty")[2]}
        for path in options.notebooks:
            clipped, overprinted, findings = look(nbformat.read(path, as_version=4), path.stem)
            mine = [f for f in findings if kind(f) not in own]
            counted = [f for f in mine if f[1] in options.impact.split(",")]
            print(f"{path.stem}: {len(clipped)} clipped, {len(overprinted)} texts overprinted, axe: {len(counted)} counted, {len(mine) - len(counted)} minor, {len(findings) - len(mine)} of nbconvert's own")
            for what in clipped:
                print("   clipped:", *what)
            for what in overprinted:
                print("   figure:", *what)
            for (rule, impact), n in collections.Counter((f[0], f[1]) for f in mine).items():
                one = next(f for f in mine if f[0] == rule)
                print(f"   axe: {n} x {rule} ({impact}):", *one[2:])
            count += len(clipped) + len(overprinted) + len(counted)
    finally:
        browser.quit()
        shutil.rmtree(folder)
    print(count, "findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
