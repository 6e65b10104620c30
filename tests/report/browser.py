"""A headless Chromium that opens a page from disk: what its reader would see, what it loads, what its script does.

Driven over the DevTools protocol, on loopback. Every name resolves to nothing, so that nothing leaves the machine.
"""

import itertools
import json
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)  # fmt: skip
"""The browser, where there is one."""
PATIENCE = 60.0
"""Seconds after which a browser that says nothing is taken for dead."""
_FLAGS = (
    "--headless",
    "--no-sandbox",  # root has none, nor have many containers; it opens files that we wrote
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--window-size=1440,1000",
    "--remote-debugging-port=0",
)
_LISTENING = re.compile(r"DevTools listening on (ws://127\.0\.0\.1:\S+)")
# sample: "DevTools listening on ws://127.0.0.1:41379/devtools/browser/5ad0a5f2-…"


class Page:
    """One tab of a browser that runs: opens an address, evaluates expressions, and remembers what was requested."""

    def __init__(self, connection: ClientConnection) -> None:
        """Make a tab; nothing is opened yet."""
        self._connection = connection
        self._numbers = itertools.count(1)
        self._session: dict[str, str] = {}
        self._events: list[dict[str, Any]] = []
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        attached = self.command("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.command(f"{domain}.enable")

    def command(self, method: str, **params: Any) -> Any:
        """Send a command of the DevTools protocol and return its result."""
        number = next(self._numbers)
        told = {"id": number, "method": method, "params": params, **self._session}
        self._connection.send(json.dumps(told))
        while True:
            said = self._receive()
            if said.get("id") == number:
                assert "error" not in said, f"{method}: {said['error']}"
                return said["result"]

    def open(self, file: Path, fragment: str = "") -> float:
        """Open a file, and return when it is loaded and drawn: the seconds that this took."""
        # From one fragment to another of the same file nothing would be loaded.
        self._navigate("about:blank")
        began = time.monotonic()
        self._navigate(file.resolve(strict=True).as_uri() + (f"#{fragment}" if fragment else ""))
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        return time.monotonic() - began

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, of a promise when it is kept."""
        done = self.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def until(self, condition: str) -> None:
        """Return when a JavaScript condition holds, looked at whenever the document changes."""
        self.evaluate(
            f"""new Promise((done) => {{
              const look = () => {{ if ({condition}) {{ watch.disconnect(); done(true); }} }};
              const watch = new MutationObserver(look);
              watch.observe(document, {{ subtree: true, childList: true, attributes: true }});
              look();
            }})"""
        )

    @property
    def requested(self) -> list[str]:
        """The addresses that were requested since the page was opened."""
        return [
            one["params"]["request"]["url"]
            for one in self._events
            if one["method"] == "Network.requestWillBeSent"
        ]

    @property
    def complaints(self) -> list[str]:
        """What the browser's console says of errors: exceptions, and what the page's policy forbade."""
        thrown = [e for e in self._events if e["method"] == "Runtime.exceptionThrown"]
        logged = [e for e in self._events if e["method"] == "Log.entryAdded"]
        return [
            *(one["params"]["exceptionDetails"]["text"] for one in thrown),
            *(one["params"]["entry"]["text"] for one in logged),
        ]

    def _navigate(self, address: str) -> None:
        self._events.clear()
        self.command("Page.navigate", url=address)
        while not any(one["method"] == "Page.loadEventFired" for one in self._events):
            self._receive()

    def _receive(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self._connection.recv(timeout=PATIENCE))
        if "method" in said:
            self._events.append(said)
        return said


@contextmanager
def browsing(profile: Path) -> Iterator[Page]:
    """Start a browser whose own files are below ``profile``, give a tab of it, and end it."""
    assert PROGRAM, "there is no Chromium here"
    with ExitStack() as stack:
        browser = stack.enter_context(
            subprocess.Popen(
                [PROGRAM, *_FLAGS, f"--user-data-dir={profile}"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        stack.callback(browser.kill)
        assert browser.stderr
        address = next(found[1] for line in browser.stderr if (found := _LISTENING.search(line)))
        # Nobody reads what else it says: a full pipe would stop it.
        threading.Thread(target=browser.stderr.read, daemon=True).start()
        connection = stack.enter_context(
            connect(address, max_size=None, proxy=None, open_timeout=PATIENCE)
        )
        page = Page(connection)
        yield page
        page.command("Page.close")
        page._session = {}
        page.command("Browser.close")
        browser.wait(PATIENCE)
