"""Makes docs/pictures/notebook.png: runs a notebook, and photographs its cells as
nbconvert shows them, in Chromium.

    python docs/picture.py bin/gocuda-kernel
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import nbformat
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook
from selenium import webdriver

HERE = pathlib.Path(__file__).parent

CELLS = (
    """dev := must(cuda.CurrentDevice())
a := must(dev.Alloc(1<<20, cuda.Float32))
host := must(cuda.AllocHost(1<<20, cuda.Float32))
s1, s2 := must(dev.NewStream()), must(dev.NewStream())""",
    """%%check
a.Fill(1, s1)
a.DownloadAsync(host, s2) // s1 may not be done""",
)


def main(kernel):
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        nb = new_notebook(metadata={"kernelspec": {"name": "gocuda", "display_name": "Go (CUDA)", "language": "go"}, "language_info": {"name": "go"}})
        nb.cells = [new_code_cell(c) for c in CELLS]
        nbformat.write(nb, folder / "picture.ipynb")
        subprocess.run([kernel, "run", "-q", "--inplace", str(folder / "picture.ipynb")], check=True, env={**os.environ, "GOCUDA_BACKEND": "sim"})
        nb = nbformat.read(folder / "picture.ipynb", as_version=4)
        (folder / "picture.html").write_text(HTMLExporter().from_notebook_node(nb)[0])
        how = webdriver.ChromeOptions()
        how.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
        for flag in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=900,1200"]:
            how.add_argument(flag)
        browser = webdriver.Chrome(options=how, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            browser.get((folder / "picture.html").as_uri())
            height = browser.execute_script("return Math.ceil(Math.max(...[...document.querySelectorAll('.jp-Cell')].map(e => e.getBoundingClientRect().bottom))) + 12")
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 900, "height": height, "deviceScaleFactor": 1.5, "mobile": False})
            (HERE / "pictures").mkdir(exist_ok=True)
            browser.save_screenshot(str(HERE / "pictures" / "notebook.png"))
        finally:
            browser.quit()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(sys.argv[1])
