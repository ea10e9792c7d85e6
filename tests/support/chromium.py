"""A headless Chromium that tests talk to through two pipes: the DevTools protocol, no port."""

import base64
import json
import os
import select
import shutil
import subprocess
import time

CHROMIUM = shutil.which("chromium")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--remote-debugging-pipe", "--allow-file-access-from-files"),
)
SECONDS = 60


class Browser:
    """One page at a time; `complaints` and `requests` are what it said and asked for."""

    def __init__(self, profile):
        read, self._write = os.pipe()
        self._read, write = os.pipe()
        # Chromium reads its third and writes its fourth descriptor.
        command = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        options = (f"--user-data-dir={profile}", "about:blank")
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", str(read), str(write), CHROMIUM, *FLAGS, *options],
            pass_fds=(read, write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        self._buffer, self._number, self._session = b"", 0, None
        self.complaints, self.requests = [], []
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(one for one in targets if one["type"] == "page")["targetId"]
        joined = self.ask("Target.attachToTarget", targetId=page, flatten=True)
        self._session = joined["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def open(self, path, *, width=1280, dark=False, script=True):
        """Open a file in a window of a width; forget what was said and asked for before."""
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.complaints, self.requests, self._loaded = [], [], False
        self.ask("Page.navigate", url=path if "://" in str(path) else path.as_uri())
        self._until(lambda: self._loaded)

    def run(self, script):
        """Return what a script of the test, not of the page, comes to; a promise is awaited."""
        done = self.ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def press(self, *keys):
        """Press keys, one after the other, as a person does."""
        for name in keys:
            text = {"Enter": "\r", "Space": " "}.get(name, name if len(name) == 1 else None)
            key = " " if name == "Space" else name
            code = {"Tab": 9, "Enter": 13, "Space": 32}.get(name, 0)
            pressed = {"key": key, "code": name, "windowsVirtualKeyCode": code}
            said = {"text": text} if text else {}
            self.ask("Input.dispatchKeyEvent", type="keyDown", **pressed, **said)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def picture(self):
        """Return the whole page as a PNG."""
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def ask(self, method, **parameters):
        """Return the answer to one command of the protocol."""
        self._number += 1
        number = self._number
        asked = {"id": number, "method": method, "params": parameters}
        if self._session:
            asked["sessionId"] = self._session
        data = json.dumps(asked).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        self._answers = {}
        self._until(lambda: number in self._answers)
        answer = self._answers[number]
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def _until(self, done):
        ends = time.monotonic() + SECONDS
        while not done():
            ready, _, _ = select.select([self._read], [], [], max(0, ends - time.monotonic()))
            assert ready, f"chromium said nothing for {SECONDS} s"
            data = os.read(self._read, 1 << 20)
            assert data, "chromium ended"
            *messages, self._buffer = (self._buffer + data).split(b"\0")
            for message in messages:
                self._take(json.loads(message))

    def _take(self, message):
        if "id" in message:
            self._answers[message["id"]] = message
            return
        told = message["params"]
        match message["method"]:
            case "Page.loadEventFired":
                self._loaded = True
            case "Network.requestWillBeSent":
                self.requests.append(told["request"]["url"])
            case "Log.entryAdded":
                self.complaints.append(told["entry"]["text"])
            case "Runtime.consoleAPICalled":
                self.complaints.append(str([one.get("value") for one in told["args"]]))
            case "Runtime.exceptionThrown":
                self.complaints.append(told["exceptionDetails"]["text"])
