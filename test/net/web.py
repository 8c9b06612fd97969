# SPDX-License-Identifier: BSD-3-Clause
"""Requests to dxp-web for web.sh: checks of the API, of the stream, and of the pages."""
import http.client
import json
import re
import ssl
import sys
import threading
import time
import urllib.parse


def connect(url):
    parts = urllib.parse.urlsplit(url)
    # test certificates have no authority, so the client does not verify them
    if parts.scheme == "https":
        return http.client.HTTPSConnection(parts.netloc, timeout=60,
                                           context=ssl._create_unverified_context())
    return http.client.HTTPConnection(parts.netloc, timeout=60)


def request(url, path, headers={}, method="GET"):
    connection = connect(url)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def get(url, path):
    answer, body = request(url, "/api/v1/" + path)
    assert answer.status == 200, (path, answer.status, body)
    return json.loads(body)


def wait(what, condition, seconds=60):
    begin = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() - begin < seconds, "not in time: " + what
        time.sleep(0.02)


def health(url, name):
    return next((n["health"] for n in get(url, "nodes")["nodes"] if n["name"] == name), None)


# ---- conformance with the OpenAPI file ----

def conforms(value, schema, document, at="$"):
    """Checks a value against the parts of JSON Schema that the file uses."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    for part in schema.get("allOf", []):
        conforms(value, part, document, at)
    if "enum" in schema:
        assert value in schema["enum"], f"{at} is {value!r}"
    kinds = {"object": dict, "array": list, "string": str, "integer": int,
             "number": (int, float), "boolean": bool, "null": type(None)}
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    assert not types or any(isinstance(value, kinds[t]) for t in types), f"{at} is {value!r}"
    if isinstance(value, dict):
        for name in schema.get("required", []):
            assert name in value, f"{at} has no {name}"
        for name, part in schema.get("properties", {}).items():
            if name in value:
                conforms(value[name], part, document, f"{at}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            conforms(item, schema["items"], document, f"{at}[{i}]")


def documents(url):
    openapi = get(url, "openapi.json")
    for path, methods in openapi["paths"].items():
        path = path.replace("{name}", "xpu1")
        content = methods["get"]["responses"]["200"]["content"]
        if "application/json" not in content:
            continue
        body = wait(path, lambda: request(url, path)[0].status == 200 and request(url, path)[1])
        conforms(json.loads(body), content["application/json"]["schema"], openapi, path)
        print("ok:", path, len(body), "bytes")
    services = get(url, "services")["services"]
    assert services[0]["role"] == "manager" and services[0]["counters"]["joined"] >= 1, services
    wait("metrics of the manager",
         lambda: b'dxp_service_up{service="manager"' in request(url, "/metrics")[1])
    detail = wait("details", lambda: get(url, "nodes/xpu1")["detail"])
    assert detail["name"] == "xpu1" and "counters" in detail


def headers(url):
    for path in ("/", "/api/v1/overview", "/nothing", "/metrics"):
        answer, _ = request(url, path)
        policy = answer.getheader("Content-Security-Policy")
        assert "default-src 'none'" in policy and "unsafe" not in policy, policy
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert answer.getheader("Cache-Control") == "no-store"
    for path in ("/", "/app.js", "/views.js", "/chart.js", "/app.css"):
        _, body = request(url, path)
        # name of a name space, which is never fetched
        text = body.decode().replace("http://www.w3.org/", "")
        assert not re.search(r"https?://", text), path + " names another site"
    answer, body = request(url, "/api/v1/overview", method="HEAD")
    assert answer.status == 200 and body == b""


# ---- the stream ----

class Stream(threading.Thread):
    """Reads updates in the background."""

    def __init__(self, url):
        super().__init__(daemon=True)
        self.connection = connect(url)
        self.connection.request("GET", "/api/v1/stream")
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200
        assert self.answer.getheader("Content-Type") == "text/event-stream"
        self.updates = []
        self.start()

    def run(self):
        for line in self.answer:
            if line.startswith(b"data: "):
                self.updates.append((time.monotonic(), json.loads(line[6:])))

    def find(self, condition):
        return next(((at, u) for at, u in list(self.updates) if condition(u)), None)


def event(update, kinds, subject):
    return any(e["kind"] in kinds and e["subject"] == subject for e in update["events"])


def killed(url, name, kill):
    """Calls kill(); the API and the stream must show it in the second reading after it."""
    stream = Stream(url)
    wait("the first update", lambda: stream.updates)
    wait(name + " alive", lambda: health(url, name) == "alive")
    begin = time.monotonic()
    kill()
    # the reading in progress may still have seen the node alive
    before = get(url, "overview")["sequence"]
    at, update = wait("the event", lambda: stream.find(lambda u: event(u, ("silent", "dead"), name)))
    assert health(url, name) in ("silent", "dead")
    assert any(a["subject"] == name and a["severity"] == "critical" for a in update["alerts"])
    assert update["sequence"] <= before + 2, (before, update["sequence"])
    print(f"ok: {name} killed, shown after {at - begin:.2f} s, {update['sequence'] - before} readings")
    wait("dead", lambda: health(url, name) == "dead")
    wait("in the log", lambda: [e for e in get(url, "events")["events"]
                                if e["kind"] == "dead" and e["subject"] == name])
    wait("in the log of the manager", lambda: [e for e in get(url, "events")["events"]
                                               if e["kind"] == "died" and e["subject"] == name])


def manager_silent(url, stop, go):
    stop()
    wait("the alert", lambda: [a for a in get(url, "overview")["alerts"] if a["subject"] == "manager"])
    assert health(url, "xpu1") == "alive", "nodes are read without the manager"
    go()
    wait("no alert", lambda: get(url, "overview")["manager"]["answers"])


# ---- login ----

def login(url, link, scrape):
    path = link[len(url.rstrip("/")):]
    for target in ("/api/v1/nodes", "/app.js", "/metrics", "/api/v1/stream"):
        assert request(url, target)[0].status == 401, target
    answer, body = request(url, "/")
    assert answer.status == 401 and b"dxp web open" in body
    assert request(url, path, method="HEAD")[0].status == 405, "HEAD does not use up the link"
    answer, body = request(url, path)
    assert answer.status == 303 and answer.getheader("Location") == "/", (answer.status, body)
    cookie = answer.getheader("Set-Cookie")
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and ("Secure" in cookie) == url.startswith("https")
    cookie = cookie.split(";")[0]
    assert request(url, "/api/v1/nodes", {"Cookie": "a=b; " + cookie})[0].status == 200
    assert request(url, "/api/v1/nodes", {"Cookie": cookie[:-1] + "x"})[0].status == 401
    assert request(url, path)[0].status == 403, "a link is good once"
    assert request(url, "/metrics", {"Authorization": "Bearer " + scrape})[0].status == 200
    assert request(url, "/api/v1/nodes", {"Authorization": "Bearer " + scrape})[0].status == 401
    return cookie


# ---- bridges ----

def bridge(url, verdicts):
    rows = wait("the bridge", lambda: [b for b in get(url, "bridges")["bridges"]
                                       if b["known"] and b["verdict"] in verdicts])
    assert rows[0]["verdict_text"]
    print("ok: bridge of", rows[0]["name"], rows[0]["verdict"])


if __name__ == "__main__":
    command, url, *rest = sys.argv[1:]
    if command == "documents":
        documents(url)
        headers(url)
    elif command == "killed":
        import os
        import signal
        killed(url, rest[0], lambda: os.kill(int(rest[1]), signal.SIGKILL))
    elif command == "manager":
        import os
        import signal
        manager_silent(url, lambda: os.kill(int(rest[0]), signal.SIGSTOP),
                       lambda: os.kill(int(rest[0]), signal.SIGCONT))
    elif command == "login":
        print(login(url, *rest))
    elif command == "bridge":
        bridge(url, rest)
