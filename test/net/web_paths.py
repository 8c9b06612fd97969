# SPDX-License-Identifier: BSD-3-Clause
"""Cuts a path and checks dxp-web, for web_paths.sh: web_paths.py URL FROM-PORT TO-PORT [PROFILE]."""
import json
import subprocess
import sys
import time
import urllib.request


def get(url, path):
    with urllib.request.urlopen(url + "api/v1/" + path) as answer:
        return json.load(answer)


def wait(what, condition):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            value = condition()
        except OSError:
            value = None
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"{what}: not within 120 s")


def paths(url, key):
    return {(p["from"], p["to"]): p.get(key) for p in get(url, "paths")["paths"]}


def alerts(url):
    return [a for a in get(url, "overview")["alerts"] if a["kind"] == "path-blocked" and a["subject"] == "xpu1"]


def logged(url, kind):
    return [e for e in get(url, "events")["events"] if e["kind"] == kind and e["subject"] == "xpu1"]


def page_open(url, profile):
    from browser import Browser
    browser = Browser("chromium", profile)
    browser.screen(1200, 900)
    browser.open(url + "#/paths")
    browser.wait("document.body?.innerText.includes('2 measured paths') || "
                 "document.body?.innerText.includes('of 2 paths')")
    browser.wait("document.querySelectorAll('tbody td').length > 0 && !document.querySelector('td.bad')")
    return browser


def page_blocked(browser):
    from web_pages import page_check
    took = browser.wait("[...document.querySelectorAll('td.bad')].some((e) => e.textContent.includes('blocked'))")
    print(f"ok: the page shows the cut path {took:.2f} s after the API")
    browser.wait("document.body?.innerText.includes('dxp doctor --to xpu2')")
    for scheme in ("light", "dark"):
        for width in (360, 1200):
            page_check(browser, "paths", width, scheme)
    assert not browser.problems, browser.problems


def main():
    url, source, target, profile = sys.argv[1:5]
    wait("open paths", lambda: paths(url, "state") == {("xpu1", "xpu2"): "open", ("xpu2", "xpu1"): "open"})
    assert "blocked" not in paths(url, "verdict").values()
    browser = page_open(url, profile) if profile else None
    subprocess.run(["nft", "add", "rule", "inet", "cut", "output", "udp", "sport", source, "udp", "dport", target,
                    "drop"], check=True)
    begin = time.monotonic()
    wait("blocked", lambda: paths(url, "verdict").get(("xpu1", "xpu2")) == "blocked")
    print(f"ok: blocked after {time.monotonic() - begin:.1f} s")
    wait("the alert", lambda: alerts(url))
    wait("the event", lambda: logged(url, "path-blocked"))
    if browser:
        page_blocked(browser)
    subprocess.run(["nft", "flush", "table", "inet", "cut"], check=True)
    wait("no alert", lambda: not alerts(url))
    wait("the event", lambda: logged(url, "path-restored"))
    if browser:
        browser.wait("!document.querySelector('td.bad')")
        browser.close()


main()
