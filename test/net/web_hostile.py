# SPDX-License-Identifier: BSD-3-Clause
"""Hostile clients of dxp-web: web_hostile.py URL PROCESS."""
import re
import resource
import select
import socket
import sys
import time
import urllib.parse

CONNECTIONS = 1000
GROWTH_KB = 32 * 1024  # at most; covers 256 connections of 16 KB, and texts


def peer(url):
    parts = urllib.parse.urlsplit(url)
    return parts.hostname, parts.port


def connect(url, seconds=30):
    return socket.create_connection(peer(url), timeout=seconds)


def status(url, data, close=True):
    """Sends the bytes; returns the status of the answer, or None if there is none."""
    with connect(url) as s:
        try:
            s.sendall(data)
            if close:
                s.shutdown(socket.SHUT_WR)
            answer = b""
            while b"\r\n" not in answer and len(answer) < 100:
                more = s.recv(100)
                if not more:
                    break
                answer += more
        except TimeoutError:
            raise
        except OSError:  # the server has closed the connection
            return None
    found = re.match(rb"HTTP/1\.[01] (\d+)", answer)
    return int(found[1]) if found else None


def good(url):
    return status(url, b"GET /api/v1/overview HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n") == 200


def memory_kb(process):
    with open(f"/proc/{process}/status") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])


def wait_good(url, what, seconds=300):
    begin = time.monotonic()
    while True:
        try:
            if good(url):
                return time.monotonic() - begin
        except OSError:
            pass
        assert time.monotonic() - begin < seconds, "no answer after " + what
        time.sleep(0.1)


HOST = b"Host: localhost\r\n"
# Requests, and the permitted statuses of each. None: the server closes the connection without an
# answer.
REQUESTS = [
    (b"GET /../../../../etc/passwd HTTP/1.1\r\n" + HOST + b"\r\n", {404}),
    (b"GET /..%2f..%2fetc/passwd HTTP/1.1\r\n" + HOST + b"\r\n", {404}),
    (b"GET /api/v1/nodes/%2e%2e%2f HTTP/1.1\r\n" + HOST + b"\r\n", {400}),
    (b"GET /app.js%00 HTTP/1.1\r\n" + HOST + b"\r\n", {404}),
    (b"GET //app.js HTTP/1.1\r\n" + HOST + b"\r\n", {404}),
    (b"GET /api/v1/events?after=1&after=2&after HTTP/1.1\r\n" + HOST + b"\r\n", {200, 400}),
    (b"GET /api/v1/nodes HTTP/1.1\r\nHost: rebinding.example\r\n\r\n", {421}),
    (b"GET /api/v1/nodes HTTP/1.1\r\n\r\n", {400, 421}),
    (b"GET /api/v1/nodes HTTP/1.0\r\n\r\n", {421}),
    (b"POST /api/v1/nodes HTTP/1.1\r\n" + HOST + b"Content-Length: 100000000\r\n\r\nxx", {405, None}),
    (b"PUT / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", {400, 405, None}),
    (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n", {400, 405, 413, None}),
    (b"DELETE /api/v1/nodes/xpu1 HTTP/1.1\r\n" + HOST + b"\r\n", {405}),
    (b"TRACE / HTTP/1.1\r\n" + HOST + b"\r\n", {405}),
    (b"CONNECT localhost:22 HTTP/1.1\r\n" + HOST + b"\r\n", {404, 405}),
    (b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", {414, 431, None}),
    (b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 100000 + b"\r\n\r\n", {413, 431, None}),
    (b"GET / HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 20000 + b"\r\n", {413, 431, None}),
    (b"GET / HTTP/1.1\r\n" + HOST + b"Cookie: " + b"a=b;" * 3000 + b"\r\n\r\n", {200, 413, 431, None}),
    (b"GET / HTTP/9.9\r\n" + HOST + b"\r\n", {200, 400, 505, None}),
    (b"GET /\r\n\r\n", {400, 421, None}),
    (b"\0" * 1000 + b"\r\n\r\n", {400, 405, 421, None}),
    (bytes(range(256)) * 4 + b"\r\n\r\n", {400, 405, 421, None}),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\1" * 500, {400, 405, 421, None}),
    (b"", {None}),
]


def requests(url):
    for data, wanted in REQUESTS:
        got = status(url, data)
        assert got in wanted, (data[:80], got)
    assert good(url)
    print("ok:", len(REQUESTS), "bad requests")


def idle(url, process, start_kb):
    """1,000 connections that send nothing, or half a request: they end, and others are served."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    sockets = []
    for i in range(CONNECTIONS):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex(peer(url))
        sockets.append(s)
    ready = select.poll()
    for s in sockets:
        ready.register(s, select.POLLOUT)
    for fd, _ in ready.poll(1000):
        try:
            socket.socket(fileno=socket.dup(fd)).send(b"GET / HTTP/1.1\r\nHo")
        except OSError:
            pass
    took = wait_good(url, "1,000 idle connections")
    used = memory_kb(process)
    assert used < start_kb + GROWTH_KB, f"{used} KB"
    for s in sockets:
        s.close()
    print(f"ok: {CONNECTIONS} idle connections; the next request was answered after {took:.1f} s; {used} KB")


def trickle(url):
    """Sends a request byte by byte without end; dxp-web must close the connection."""
    begin = time.monotonic()
    with connect(url) as s:
        try:
            while time.monotonic() - begin < 300:
                s.sendall(b"X" if time.monotonic() - begin > 1 else b"GET /")
                s.settimeout(1)
                try:
                    if not s.recv(100):
                        break
                except socket.timeout:
                    pass
            else:
                raise AssertionError("a request byte by byte holds its connection")
        except ConnectionError:
            pass
    print(f"ok: a request byte by byte was ended after {time.monotonic() - begin:.0f} s")


def readers(url, process, start_kb):
    """Browsers that never read: pages and streams. Streams beyond the limit get status 503."""
    sockets, full = [], 0
    for i in range(80):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.settimeout(30)
        s.connect(peer(url))
        s.sendall(b"GET /api/v1/stream HTTP/1.1\r\n" + HOST + b"\r\n")
        full += b" 503 " in s.recv(16)
        sockets.append(s)
    assert full == 80 - 64, full
    for i in range(50):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.connect(peer(url))
        s.sendall((b"GET /metrics HTTP/1.1\r\n" + HOST + b"\r\n") * 100)
        sockets.append(s)
    wait_good(url, "readers that never read")
    used = memory_kb(process)
    assert used < start_kb + GROWTH_KB, f"{used} KB"
    for s in sockets:
        s.close()
    begin = time.monotonic()
    while True:  # repeats until the streams are free again
        got = status(url, b"GET /api/v1/stream HTTP/1.1\r\n" + HOST + b"\r\n", close=False)
        if got == 200:
            break
        assert got == 503 and time.monotonic() - begin < 300, got
        time.sleep(0.2)
    print(f"ok: 80 streams and 50 pages that nobody reads; {used} KB")


def main():
    url, process = sys.argv[1], int(sys.argv[2])
    wait_good(url, "its start")
    requests(url)
    start_kb = memory_kb(process)
    readers(url, process, start_kb)
    idle(url, process, start_kb)
    trickle(url)
    wait_good(url, "all")


main()
