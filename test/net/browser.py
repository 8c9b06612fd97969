# SPDX-License-Identifier: BSD-3-Clause
"""Drives a headless Chromium through its debugging pipe (Chrome DevTools Protocol)."""
import base64
import json
import os
import subprocess
import time


class Browser:
    """One page. Certificates are not checked, because tests make their own."""

    def __init__(self, program, profile):
        read_commands, self.commands = os.pipe()
        self.answers, write_answers = os.pipe()

        def descriptors():  # the protocol uses descriptors 3 and 4
            os.dup2(read_commands, 13)
            os.dup2(write_answers, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--ignore-certificate-errors", "--no-first-run", f"--user-data-dir={profile}",
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=descriptors, pass_fds=(3, 4), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(read_commands)
        os.close(write_answers)
        self.buffer, self.number, self.session = b"", 0, None
        self.requests, self.problems = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def _message(self):
        while b"\0" not in self.buffer:
            data = os.read(self.answers, 1 << 16)
            assert data, "Chromium has exited"
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def _event(self, message):
        method, values = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(values["exceptionDetails"])
        elif method == "Log.entryAdded" and values["entry"]["level"] == "error":
            self.problems.append(values["entry"])

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self._event(answer)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, expression, seconds=30):
        """Waits until the expression is true; returns the seconds that it took."""
        begin = time.monotonic()
        while not self.evaluate(expression):
            assert time.monotonic() - begin < seconds, (
                f"not true in {seconds} s: {expression}: " + self.text())
            time.sleep(0.02)
        return time.monotonic() - begin

    def open(self, url):
        self.call("Page.navigate", url=url)

    def text(self):
        return self.evaluate("document.body ? document.body.innerText : ''")

    def screen(self, width, height, scheme="light"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        data = self.call("Page.captureScreenshot")["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
        except (AssertionError, OSError):
            pass
        self.process.wait(20)
