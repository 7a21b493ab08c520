"""Looks at the site in Chromium, as a phone and desktops show it, light and dark: what
axe-core finds against accessibility, what is wider than the page or cut off, and pictures
that are not drawn; and whether searches find their pages. It ends with 1 if there is
anything.

    npm pack axe-core@4.10.3 && tar xzf axe-core-4.10.3.tgz
    python docs/look.py --axe package/axe.min.js --screenshots FOLDER build/docs/html [PAGE]...
"""

import argparse
import collections
import pathlib
import shutil
import sys

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.support.ui import WebDriverWait

WIDTHS = 390, 1000, 1280

# One of each kind of page.
PAGES = "index", "start/index", "guide/check", "guide/mpi", "how/walks", "reference/settings", "reference/magics", "tutorials/index", "tutorials/01_streams", "coming-from/names", "reference/go/cudaapi-mpi", "status"

# What people search for, and a page that is to be among the first five found.
SEARCHES = {
    "hazard": "guide/check", "allreduce": "guide/mpi", "install": "start/index", "timeline": "guide/timeline",
    "breakpoint": "guide/debugger", "GOCUDA_SIM_DEVICES": "reference/settings",
}

AXE = """
const done = arguments[0];
axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations.flatMap(
  v => v.nodes.map(n => [v.id, v.impact, n.html.slice(0, 160), (n.failureSummary || '').replace(/\\s+/g, ' ').slice(0, 240)]))), e => done([['axe', 'critical', '', String(e)]]));
"""

# What sticks out of the page: a phone would scroll sideways.
WIDE = """
const wide = document.documentElement.clientWidth, found = [];
if (document.documentElement.scrollWidth > wide + 1)
  for (const e of document.querySelectorAll('article *')) {
    const box = e.getBoundingClientRect();
    let p = e.parentElement, inside = false;
    for (; p; p = p.parentElement) if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) inside = true;
    if (!inside && box.width && box.right > wide + 1) found.push(['wide', 'serious', e.outerHTML.slice(0, 160), String(Math.round(box.right - wide)) + ' px']);
  }
for (const e of document.querySelectorAll('article *')) {
  if (e.tagName == 'IMG' && (!e.complete || !e.naturalWidth)) found.push(['not drawn', 'serious', e.outerHTML.slice(0, 100), e.alt]);
  if (['hidden', 'clip'].includes(getComputedStyle(e).overflowX) && e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1 && !e.closest('.visually-hidden, mjx-container'))
    found.push(['cut off', 'serious', e.outerHTML.slice(0, 160), String(e.scrollWidth - e.clientWidth) + ' px']);
}
return found;
"""


def searched(browser, site):
    """The searches that do not find their page, each as a line."""
    wrong = []
    for words, page in SEARCHES.items():
        browser.get((site.resolve() / "search.html").as_uri() + "?q=" + words)
        try:
            # Results come one by one; the page says when all are there.
            WebDriverWait(browser, 60).until(lambda b: b.find_element("css selector", "#search-results h2").text == "Search Results")
            found = [a.get_attribute("href") for a in browser.find_elements("css selector", "#search-results ul.search li > a")][:5]
        except TimeoutException:
            found = []
        if not any(href.split("?")[0].split("#")[0].endswith("/" + page + ".html") for href in found):
            wrong.append(f"a search for {words} does not find {page} among the first five: {found}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--axe", help="axe.min.js of axe-core; without it, only searches are tried")
    parser.add_argument("--screenshots", type=pathlib.Path, help="a folder for pictures of the pages")
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("pages", nargs="*", help="such as guide/check; without any, one of each kind")
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    how = webdriver.ChromeOptions()
    how.binary_location = chromium
    for flag in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--allow-file-access-from-files"]:
        how.add_argument(flag)
    browser = webdriver.Chrome(options=how, service=webdriver.ChromeService(shutil.which("chromedriver")))
    browser.set_script_timeout(300)
    count = 0
    try:
        wrong = searched(browser, options.site)
        print(*wrong, sep="\n", end="\n" if wrong else "")
        print(f"{len(SEARCHES) - len(wrong)} of {len(SEARCHES)} searches find their page")
        if not options.axe:
            return 1 if wrong else 0
        count += len(wrong)
        for page in options.pages or PAGES:
            for width in WIDTHS:
                for theme in "light", "dark":
                    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
                    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
                    browser.get((options.site.resolve() / (page + ".html")).as_uri())
                    # Pictures further down load when they are about to be seen, and answers are folded.
                    browser.execute_script("document.head.insertAdjacentHTML('beforeend', '<style>* { transition: none !important; animation: none !important }</style>');"
                                           "for (const i of document.images) i.loading = 'eager'; for (const d of document.querySelectorAll('details')) d.open = true;")
                    if options.screenshots:
                        options.screenshots.mkdir(parents=True, exist_ok=True)
                        browser.save_screenshot(str(options.screenshots / f"{page.replace('/', '-')}-{width}-{theme}.png"))
                    browser.execute_script(pathlib.Path(options.axe).read_text())
                    findings = browser.execute_async_script(AXE) + browser.execute_script(WIDE)
                    if findings:
                        print(f"{page} at {width} px, {theme}: {len(findings)} findings")
                        for (rule, impact), n in collections.Counter((f[0], f[1]) for f in findings).items():
                            print(f"   {n} x {rule} ({impact}):", *next(f for f in findings if f[0] == rule)[2:])
                    count += len(findings)
    finally:
        browser.quit()
    print(f"{len(options.pages or PAGES)} pages at {len(WIDTHS)} widths, light and dark: {count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
