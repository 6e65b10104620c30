"""A headless Chromium that opens a page from disk: what its reader would see, what it loads, what its script does.

Driven by Playwright, with the browser that the system has: none is downloaded. Every name resolves to nothing, so that
nothing leaves the machine.
"""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import CDPSession, ConsoleMessage, Error, Request, sync_playwright
from playwright.sync_api import Page as Tab

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)  # fmt: skip
"""The browser, where there is one."""
PATIENCE = 60.0
"""Seconds after which a browser that says nothing is taken for dead."""
WIDTHS = (360, 768, 1400)
"""A telephone, a tablet and a desk."""
_FLAGS = [
    "--no-sandbox",  # root has none, nor have many containers; it opens files that we wrote
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


class Page:
    """One tab of a browser that runs: opens an address, evaluates expressions, and remembers what was requested.

    ``tab`` is Playwright's page, for keys, sizes and media.
    """

    def __init__(self, tab: Tab) -> None:
        """Listen to a tab; nothing is opened yet."""
        self.tab = tab
        self.requested: list[str] = []
        """The addresses that were requested since the page was opened."""
        self.complaints: list[str] = []
        """What the browser's console says of errors: exceptions, and what the page's policy forbade."""
        self._protocol: CDPSession = tab.context.new_cdp_session(tab)
        self.command("Page.enable")
        tab.set_default_timeout(PATIENCE * 1000)
        tab.on("request", self._request)
        tab.on("pageerror", self._error)
        tab.on("console", self._console)

    def _request(self, request: Request) -> None:
        self.requested.append(request.url)

    def _error(self, error: Error) -> None:
        self.complaints.append(str(error))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def command(self, method: str, **params: Any) -> Any:
        """Send a command of the DevTools protocol and return its result."""
        return self._protocol.send(method, params)

    def open(self, file: Path, fragment: str = "") -> float:
        """Open a file, and return when it is loaded and drawn: the seconds that this took."""
        # From one fragment to another of the same file nothing would be loaded.
        self.tab.goto("about:blank")
        self.requested.clear()
        self.complaints.clear()
        began = time.monotonic()
        self.tab.goto(file.resolve(strict=True).as_uri() + (f"#{fragment}" if fragment else ""))
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        return time.monotonic() - began

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, of a promise when it is kept.

        By the protocol: it takes any text, and what Playwright wraps around an expression needs ``eval``, which the
        policies of our pages forbid.
        """
        done = self.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def until(self, condition: str) -> None:
        """Return when a JavaScript condition holds, looked at whenever the document changes."""
        self.evaluate(
            f"""new Promise((done, lost) => {{
              setTimeout(() => lost("it did not come to hold"), {PATIENCE * 1000});
              const look = () => {{ if ({condition}) {{ watch.disconnect(); done(true); }} }};
              const watch = new MutationObserver(look);
              watch.observe(document, {{ subtree: true, childList: true, attributes: true }});
              look();
            }})"""
        )

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, as a person without a mouse does."""
        for key in keys:
            self.tab.keyboard.press(key)

    @property
    def focused(self) -> str:
        """What has the focus: its tag, its id, and what it says."""
        said: str = self.evaluate(
            "(({tagName, id, textContent}) => `${tagName}#${id} ${textContent.trim().slice(0, 60)}`)(document.activeElement)"
        )
        return said

    @contextmanager
    def seen(
        self,
        width: int = 1400,
        *,
        scheme: Literal["light", "dark"] = "light",
        printed: bool = False,
    ) -> Iterator[None]:
        """Show the page at a width, in light or dark, or as it is printed."""
        self.tab.set_viewport_size({"width": width, "height": 900})
        self.tab.emulate_media(color_scheme=scheme, media="print" if printed else "screen")
        try:
            yield
        finally:
            self.tab.set_viewport_size({"width": 1440, "height": 1000})
            self.tab.emulate_media(color_scheme="light", media="screen")

    def open_whole(self, file: Path, width: int) -> None:
        """Open a file in a window of this width, with every list unfolded."""
        self.tab.set_viewport_size({"width": width, "height": 800})
        self.open(file)
        self.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })')

    def assert_fits(self, file: Path, width: int) -> None:
        """Nothing of the page sticks out at the side, with every list unfolded."""
        self.open_whole(file, width)
        assert self.evaluate("document.documentElement.scrollWidth") <= width
        assert self.overflow == []

    def assert_inert(self, file: Path) -> None:
        """One request, for the page itself; no script ran and none was forbidden, for there is none."""
        self.open(file)
        assert self.requested == [file.as_uri()]
        assert self.complaints == []
        assert self.evaluate("document.scripts.length") == 0

    @property
    def overflow(self) -> list[str]:
        """What sticks out of the page to the right, unless it scrolls in its own box."""
        found: list[str] = json.loads(
            self.evaluate(
                """JSON.stringify([...document.body.querySelectorAll("*")].filter((one) => {
                  const box = one.getBoundingClientRect();
                  if (!box.width || !box.height || box.right <= document.documentElement.clientWidth + 1) return false;
                  for (let at = one.parentElement; at; at = at.parentElement) {
                    const flow = getComputedStyle(at).overflowX;
                    if (flow !== "visible" && at !== document.body && at !== document.documentElement) return false;
                  }
                  return getComputedStyle(one).position !== "absolute" || box.width > 2;
                }).map((one) => `${one.tagName}.${one.className} ${one.textContent.trim().slice(0, 60)}`))"""
            )
        )
        return found


@contextmanager
def browsing(profile: Path) -> Iterator[Page]:
    """Start a browser whose own files are below ``profile``, give a tab of it, and end it."""
    assert PROGRAM, "there is no Chromium here"
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=PROGRAM,
            headless=True,
            args=_FLAGS,
            chromium_sandbox=False,
            viewport={"width": 1440, "height": 1000},
        )
        try:
            yield Page(context.pages[0] if context.pages else context.new_page())
        finally:
            context.close()
