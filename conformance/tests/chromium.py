"""A headless Chromium, driven over a pipe by its DevTools protocol: no driver program, no port, no library."""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SECONDS = 60.0
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--no-default-browser-check",
    "--remote-debugging-pipe",
)
# The protocol reads from descriptor 3 and writes to 4.
PLACED = """
import os, sys
ends = [os.dup(int(end)) for end in sys.argv[1:3]]
ends = [os.dup2(end, 60 + at) for at, end in enumerate(ends)]
for at, end in enumerate(ends):
    os.dup2(end, 3 + at)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Chromium:
    """One page of one browser process. `events` collects what the protocol reports, as (method, params)."""

    def __init__(self, profile: Path) -> None:
        (commands_out, commands), (answers, answers_in) = os.pipe(), os.pipe()
        ends = map(str, (commands_out, answers_in))
        self.process = subprocess.Popen(
            [sys.executable, "-c", PLACED, *ends, PROGRAM, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(commands_out, answers_in),
        )
        os.close(commands_out)
        os.close(answers_in)
        self.commands, self.answers = commands, answers
        self.rest = b""
        self.number = 0
        self.session = None
        self.events = []
        pages = [each for each in self("Target.getTargets")["targetInfos"] if each["type"] == "page"]
        self.session = self("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")

    def __call__(self, method, **params):
        """Send a command and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        message |= {"sessionId": self.session} if self.session else {}
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append((answer.get("method"), answer.get("params")))

    def _receive(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.answers], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "the browser gave no answer"
            part = os.read(self.answers, 1 << 20)
            assert part, "the browser ended"
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def open(self, address):
        """Go to an address, and wait until the page says that it is ready."""
        self("Page.navigate", url=address)
        self.until("document.documentElement?.dataset.ready === 'yes'")

    def ask(self, expression):
        """Return the value of a JavaScript expression; what it throws is raised."""
        answer = self("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression):
        """Wait until an expression is true."""
        deadline = time.monotonic() + SECONDS
        while not self.ask(expression):
            assert time.monotonic() < deadline, f"never true: {expression}"
            time.sleep(0.02)

    def press(self, key):
        """Press and release a key, such as "ArrowDown" or "Tab"."""
        for kind in ("keyDown", "keyUp"):
            self("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def window(self, width, height, *, dark=False):
        """Be a window of a size, light or dark."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self("Emulation.setEmulatedMedia", features=features)

    def picture(self, file):
        """Write what is in sight as a PNG."""
        shot = self("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        """End the browser."""
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
