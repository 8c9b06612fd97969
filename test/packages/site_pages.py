# SPDX-License-Identifier: BSD-3-Clause
"""Checks the pages of tools/site.

  site_pages.py FOLDER PROFILE      PROFILE: a new folder for the browser's files

Each link leads to a file, and to an element of it if it has a fragment. No page is wider than a
screen of 360 or 1440 pixels. Each text has the contrast that WCAG 2.1 (1.4.3) demands, in both
schemes. The search finds a word, and nothing is fetched from the network."""
import html.parser
import os
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "net"))
from browser import Browser  # noqa: E402

CHROMIUM = "chromium"
WIDTHS = 360, 1440

# Returns texts with too little contrast: "ratio, colours, text".
CONTRAST = """(() => {
  const parse = text => { const n = text.match(/[\\d.]+/g).map(Number);
    return { rgb: n.slice(0, 3), a: n.length > 3 ? n[3] : 1 }; };
  const over = (top, below) => ({ a: 1,
    rgb: top.rgb.map((v, i) => v * top.a + below.rgb[i] * (1 - top.a)) });
  const part = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => 0.2126 * part(c.rgb[0]) + 0.7152 * part(c.rgb[1]) + 0.0722 * part(c.rgb[2]);
  const behind = e => {
    if (!e) return { rgb: [255, 255, 255], a: 1 };
    const own = parse(getComputedStyle(e).backgroundColor);
    return own.a === 1 ? own : over(own, behind(e.parentElement));
  };
  const bad = new Map();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const e = n.parentElement;
    if (!n.data.trim() || /^(SCRIPT|STYLE|NOSCRIPT|TITLE)$/.test(e.tagName)) continue;
    if (!e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    const s = getComputedStyle(e), size = parseFloat(s.fontSize);
    const least = size >= 24 || (size >= 18.66 && s.fontWeight >= 700) ? 3 : 4.5;
    const below = behind(e), text = over(parse(s.color), below);
    const [a, b] = [light(text), light(below)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < least) bad.set(s.color + s.backgroundColor + e.className,
      `${ratio.toFixed(2)}: ${s.color}, ${e.tagName}.${e.className}: ${n.data.trim().slice(0, 40)}`);
  }
  return [...bad.values()].slice(0, 5);
})()"""

# Returns the elements that are wider than the screen; "" if the page is not.
WIDE = """(() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return '';
  return [...document.querySelectorAll('body *')].filter(e =>
    e.getBoundingClientRect().right > width + 1).map(e => e.tagName + '.' + e.className)
    .slice(0, 5).join(' ') || 'the page';
})()"""


class Page(html.parser.HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), set()
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def html_files(folder):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder)
                  for name in names if name.endswith(".html"))


def links_check(files):
    """Returns links that lead nowhere, and references to other hosts except links."""
    pages = {path: Page(path) for path in files}
    bad, count = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme:
                continue
            count += 1
            target = path
            if parts.path:
                target = os.path.normpath(
                    os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path)))
            fragment = urllib.parse.unquote(parts.fragment)
            if not os.path.exists(target):
                bad.append(f"{path}: {link} leads nowhere")
            elif fragment and target in pages and fragment not in pages[target].ids:
                bad.append(f"{path}: {link}: no such part of the page")
    print(f"{count} links in {len(pages)} pages", flush=True)
    return bad


def page_check(browser, path):
    """Returns problems of a page on all screens."""
    bad = []
    browser.open("file://" + path)
    browser.wait(f"location.pathname === {urllib.parse.quote(path)!r} "
                 "&& document.readyState === 'complete'")
    for scheme in "light", "dark":
        for width in WIDTHS:
            browser.screen(width, 900, scheme)
            bad += [f"{path}: {scheme}, {width} px: contrast {text}"
                    for text in browser.evaluate(CONTRAST)]
            wide = browser.evaluate(WIDE)
            if wide:
                bad.append(f"{path}: wider than {width} px: {wide}")
    return bad


def button_check(browser, folder):
    """The button changes the scheme, also if the browser prefers the other one."""
    browser.screen(1440, 900, "light")
    browser.open(f"file://{folder}/index.html")
    browser.wait("location.pathname.endsWith('/index.html') && document.readyState === 'complete'")
    lightness = ("getComputedStyle(document.body).backgroundColor.match(/\\d+/g)"
                 ".reduce((sum, v) => sum + Number(v), 0)")
    before = browser.evaluate(lightness)
    browser.evaluate("document.querySelector('.theme-toggle').click()")
    browser.wait(f"{lightness} < {before} / 2")


def search_check(browser, folder):
    browser.open(f"file://{folder}/search.html?q=retransmission")
    browser.wait("document.querySelectorAll('#search-results li').length > 2")


def main():
    folder, profile = os.path.realpath(sys.argv[1]), sys.argv[2]
    files = html_files(folder)
    assert len(files) > 80, f"only {len(files)} pages"
    bad = links_check(files)
    browser = Browser(CHROMIUM, profile)
    try:
        for path in files:
            bad += page_check(browser, path)
        button_check(browser, folder)
        search_check(browser, folder)
        bad += [f"{problem}" for problem in browser.problems]
        bad += [f"fetched from the network: {url}" for url in browser.requests
                if not url.startswith(("file:", "data:"))]
    finally:
        browser.close()
    print(f"{len(files)} pages on {len(WIDTHS)} screens in 2 schemes")
    for text in bad[:30]:
        print("FAILED:", text)
    sys.exit(1 if bad else 0)


main()
