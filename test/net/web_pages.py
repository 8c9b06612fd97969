# SPDX-License-Identifier: BSD-3-Clause
"""The pages of dxp-web in a headless Chromium, for web.sh: web_pages.py URL PROCESS PROFILE."""
import os
import signal
import sys

from browser import Browser

PAGES = {"": "Overview", "nodes": "Nodes", "nodes/xpu1": "Node xpu1", "bridges": "Bridges", "paths": "Paths",
         "functions": "Functions", "switches": "Switches", "grants": "Grants", "events": "Events", "join": "Join",
         "unknown": "Overview"}

# Checks that interactive elements, images and tables have names, and that headings are right.
# CONTRAST checks colours.
ACCESSIBLE = """(() => {
  const bad = [];
  const named = (e) => e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length;
  for (const e of document.querySelectorAll("a, input, button, svg[role=img], [role=region]"))
    if (!named(e)) bad.push(e.outerHTML.slice(0, 80));
  for (const t of document.querySelectorAll("table")) {
    if (!t.caption?.textContent) bad.push("a table without caption");
    if ([...t.querySelectorAll("th")].some((h) => !h.scope)) bad.push("a heading cell without scope");
  }
  if (document.querySelectorAll("h1").length !== 1) bad.push("not one h1");
  if (document.querySelectorAll("main").length !== 1) bad.push("not one main");
  if (!document.documentElement.lang) bad.push("no language");
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  if (new Set(ids).size !== ids.length) bad.push("an id twice");
  if (!document.querySelector("[aria-current=page]")) bad.push("no current page");
  return bad.join("; ");
})()"""

# Checks that the contrast of text and background is at least 4.5 (WCAG AA).
CONTRAST = """(() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => { const [r, g, b] = c.slice(0, 3).map((v) => { v /= 255;
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = (e) => { for (; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; }
    return [255, 255, 255]; };
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.offsetParent) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(back(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) bad.push(`${e.tagName} "${e.textContent.slice(0, 20)}" ${ratio.toFixed(1)}`);
  }
  return bad.join("; ");
})()"""


def page_check(browser, page, width, scheme):
    browser.screen(width, 740, scheme)
    browser.evaluate(f"location.hash = '#/{page}'")
    browser.wait("document.getElementById('link').textContent === 'live'")
    browser.wait(f"document.getElementById('title').textContent === '{PAGES[page]}'")
    wide = browser.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, f"#/{page} is {wide} wide on a screen of {width}"
    for script in (ACCESSIBLE, CONTRAST):
        bad = browser.evaluate(script)
        assert not bad, f"#/{page} at {width}, {scheme}: {bad}"


def main():
    url, process, profile = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    browser = Browser("chromium", profile)
    browser.screen(1200, 900)
    browser.open(url)
    browser.wait("document.querySelector('dd')?.textContent.includes('answers')")
    for scheme in ("light", "dark"):
        for width in (360, 1200):
            for page in PAGES:
                page_check(browser, page, width, scheme)
    browser.evaluate("location.hash = '#/nodes'")
    browser.wait("document.querySelectorAll('tbody tr').length >= 2")
    browser.wait("document.body.innerText.includes('xpu2')")
    # The keyboard focus must stay on a link while its row changes, and while the order of rows
    # changes.
    browser.evaluate("[...document.querySelectorAll('tbody a')].find((a) => a.textContent === 'xpu1').focus()")
    os.kill(process, signal.SIGKILL)
    took = browser.wait("[...document.querySelectorAll('#alerts li')].some((e) => e.textContent.includes('xpu2'))")
    print(f"ok: the page shows the killed node after {took:.2f} s")
    browser.wait("document.querySelector('tbody td.silent, tbody td.dead') !== null")
    assert browser.evaluate("document.activeElement.textContent") == "xpu1", "the focus moved"
    page_check(browser, "", 360, "dark")
    page_check(browser, "", 1200, "light")
    foreign = [r for r in browser.requests if not r.startswith(url)]
    assert not foreign, foreign
    assert not browser.problems, browser.problems
    browser.close()


if __name__ == "__main__":
    main()
