"""Short runs through bad weather: a proxy between harness and lab that fails, slows, resets and goes away; and signals.

``python -m scripts.chaos [--times 30] [--seed 1]``. One lab serves all, beside a living run (``killing``). Each run has
one trouble: an outage of 20 s, a rotated token, a node, its namespace or a probe Pod that is lost in the middle, SIGINT,
SIGTERM or SIGKILL at a seeded moment, or none but the weather: of all requests 5 % are answered with 503, 5 % late, and
1 % are reset. After each run ``nettests gc --yes`` must leave what was there before, and the living run untouched. A red
check that was not red in clear weather is a false one. Prints a line for each run and the reasons of what stayed unknown,
so that a person sees whether the outage is named; exits 1 after a false red, a leftover or a touched neighbour.
"""

import argparse
import base64
import json
import os
import random
import re
import selectors
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any
from urllib.parse import urlsplit

from ruamel.yaml import YAML

from nettests.cluster import Connection
from nettests.model.labels import RUN_LABEL
from nettests.model.run_folder import LATEST, RESULTS
from nettests.session.process import ending_signals
from scripts.killing import LAB, LIMIT, NETTESTS, Killing, objects, say, uids

PIECE = 1 << 16
ERRORS, SLOW, RESETS = 0.05, 0.05, 0.01
SLOW_SECONDS, OUTAGE_SECONDS = 2.0, 20.0
HUNG = f"did not end within {LIMIT} s"
LOST = "win-2"
"""The node whose kubelet falls silent."""
RED = frozenset({"fail", "lifted", "flaky"})
TROUBLES = (
    *("weather", "outage", "token", "node", "namespace", "pod"),
    *("SIGINT", "SIGTERM", "SIGKILL"),
)


class Weather:
    """A plain proxy on loopback in front of a lab's API server: one request a connection, some of which fare badly."""

    def __init__(self, kubeconfig: Path, seed: int) -> None:
        stated = YAML(typ="safe").load(kubeconfig)
        self.token = stated["users"][0]["user"]["token"]
        cluster = stated["clusters"][0]["cluster"]
        self.upstream = urlsplit(cluster["server"])
        self.trust = _trust(cluster)
        self.dice = random.Random(seed)  # noqa: S311 - the same weather each time
        self.accepted = "first-token"
        self.clear = True
        self.away_until = 0.0
        self.fates: Counter[str] = Counter()
        weather = self

        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                with suppress(OSError):
                    weather.serve(self)

        self.server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def serve(self, handler: StreamRequestHandler) -> None:
        """Pass one request on, answer it badly, or hang up."""
        head = b"".join(iter(handler.rfile.readline, b"\r\n"))
        client = handler.connection
        fate = self._fate(head)
        self.fates[fate] += 1
        if fate in {"away", "reset"}:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.close()
            return
        if fate in {"error", "refused"}:
            self._read_body(handler, head)
            what = b"503 Service Unavailable" if fate == "error" else b"401 Unauthorized"
            handler.wfile.write(
                b"HTTP/1.1 " + what + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            return
        if fate == "slow":
            time.sleep(SLOW_SECONDS)
        upgraded = b"upgrade: websocket" in head.lower()
        head = re.sub(rb"(?im)^authorization:.*\r\n", b"", head)
        if not upgraded:
            head = re.sub(rb"(?im)^connection:.*\r\n", b"", head) + b"Connection: close\r\n"
        head += f"Authorization: Bearer {self.token}\r\n\r\n".encode()
        address = (self.upstream.hostname, self.upstream.port)
        with (
            socket.create_connection(address) as plain,
            self.trust.wrap_socket(plain, server_hostname=self.upstream.hostname) as server,
        ):
            server.sendall(head + self._read_body(handler, head))
            self._pass(client, server)

    def _fate(self, head: bytes) -> str:
        if time.monotonic() < self.away_until:
            return "away"
        if f"bearer {self.accepted}".encode() not in head.lower():
            return "refused"
        drawn = 1.0 if self.clear else self.dice.random()
        for fate, share in (("error", ERRORS), ("slow", SLOW), ("reset", RESETS)):
            if drawn < share:
                return fate
            drawn -= share
        return "passed"

    def _pass(self, client: socket.socket, server: ssl.SSLSocket) -> None:
        """Pass bytes both ways until one side ends, or the outage begins."""
        with selectors.DefaultSelector() as ready:
            ready.register(client, selectors.EVENT_READ)
            ready.register(server, selectors.EVENT_READ)
            while time.monotonic() >= self.away_until:
                for key, _ in ready.select(0.2):
                    came = key.fileobj.recv(PIECE)  # type: ignore[union-attr]
                    while key.fileobj is server and (more := server.pending()):
                        came += server.recv(more)
                    if not came:
                        return
                    (server if key.fileobj is client else client).sendall(came)

    @staticmethod
    def _read_body(handler: StreamRequestHandler, head: bytes) -> bytes:
        length = re.search(rb"(?im)^content-length: *(\d+)", head)
        return handler.rfile.read(int(length[1])) if length else b""


def _trust(cluster: dict[str, Any]) -> ssl.SSLContext:
    data = cluster.get("certificate-authority-data")
    trust = ssl.create_default_context(
        cafile=cluster.get("certificate-authority"),
        cadata=base64.b64decode(data).decode() if data else None,
    )
    trust.maximum_version = ssl.TLSVersion.TLSv1_2  # tickets of 1.3 wake a reader for nothing
    return trust


class Chaos(Killing):
    """One lab behind the weather, and runs that each meet one trouble."""

    def __init__(self, up: dict[str, Any], folder: Path, wanted: argparse.Namespace) -> None:
        super().__init__(up, folder, wanted)
        self.lab: str = up["name"]
        self.troubles: list[str] = wanted.trouble or list(TROUBLES)
        self.weather = Weather(self.kubeconfig, wanted.seed)
        self.token = folder / "token"
        self.token.write_text(self.weather.accepted)
        self.behind = folder / "behind-the-weather"
        port = self.weather.server.server_address[1]
        stated = YAML(typ="safe").load(self.kubeconfig)
        stated["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{port}"}
        stated["users"][0]["user"] = {"tokenFile": str(self.token)}
        YAML().dump(stated, self.behind)

    def gc_options(self) -> tuple[str, ...]:
        """Return the options that name the cluster, as it is seen through the weather."""
        return (f"--kubeconfig={self.behind}", f"--cluster-profile={self.profile}")

    def kill_all(self, connection: Connection) -> list[str]:
        """Run once in clear weather, then in trouble; return what was not as it should be."""
        before, living = objects(connection), uids(connection)
        first = self.whole("first")
        length = self.weather.fates.total()
        expected_red = {check for check, verdict in first.items() if verdict in RED}
        say(f"clear weather: {length} requests, {dict(Counter(first.values()))}")
        problems = self.differences(before, objects(connection), "after the first run")
        for number in range(1, self.times + 1):
            trouble = self.troubles[(number - 1) % len(self.troubles)]
            self.weather.fates.clear()
            self.weather.clear = False
            ended = self.trouble(trouble, round(self.dice.uniform(0.1, 0.9) * length), connection)
            self.weather.clear, self.weather.away_until = True, 0.0
            collected = self.command("gc", "--yes", "--json", *self.gc_options())
            where = f"run {number} ({trouble})"
            left = self.differences(before, objects(connection), where)
            if uids(connection) != living:
                left.append(f"{where}: the living run's objects are not what they were")
            verdicts, reasons = self.outcome()
            red = sorted(
                check
                for check, verdict in verdicts.items()
                if verdict in RED and check not in expected_red
            )
            say(
                f"{number:>3}  {trouble:<9} {ended}; {dict(Counter(verdicts.values()))}; "
                f"red: {red or 'none'}; left: {len(left)}; gc {collected.returncode}; "
                f"{dict(self.weather.fates)}"
            )
            for reason, count in reasons.most_common(4):
                say(f"       {count:>3} unknown: {reason}")
            if ended.endswith(HUNG):
                left.append(f"{where}: {HUNG}")
            problems += [*left, *(f"{where}: false red {check}" for check in red)]
        return problems

    def trouble(self, trouble: str, requests: int, connection: Connection) -> str:
        """Run, and bring the trouble after so many requests, however busy the machine is; return how the run ended."""
        for old in self.folder.glob("chaos/latest*"):
            old.unlink()
        output = self.folder / "output.txt"
        with output.open("w", encoding="utf-8") as file:
            run = subprocess.Popen(
                [*NETTESTS, *self.run_options("chaos"), "--quiet"], stdout=file, stderr=file
            )
            try:
                while run.poll() is None and self.weather.fates.total() < requests:
                    time.sleep(0.02)
                met = run.poll() is None
                if met:
                    self.bring(trouble, run, connection)
                with suppress(subprocess.TimeoutExpired):
                    run.wait(LIMIT)
            finally:
                over = run.poll() is not None
                run.kill()
                run.wait()
                if trouble == "node":
                    subprocess.run(
                        [*LAB, "fault", "clear", "--name", self.lab],
                        check=False,
                        capture_output=True,
                    )
        lines = output.read_text(encoding="utf-8").strip().splitlines()
        when = f"at request {requests}" if met else "ended before"
        if not over:
            return f"{when}, {HUNG}"
        return f"{when}, exit {run.returncode}: {lines[0][:150] if lines else 'nothing printed'}"

    def bring(self, trouble: str, run: "subprocess.Popen[bytes]", connection: Connection) -> None:
        """Do what the trouble is."""
        match trouble:
            case "outage":
                self.weather.away_until = time.monotonic() + OUTAGE_SECONDS
            case "token":
                self.weather.accepted = f"token-{time.monotonic_ns()}"
                self.token.write_text(self.weather.accepted)
            case "node":
                words = ("inject", "kubelet-silent", "--node", LOST, "--seconds=5")
                subprocess.run(
                    [*LAB, "fault", *words, "--name", self.lab], check=False, capture_output=True
                )
            case "namespace" | "pod":
                kind = "namespaces" if trouble == "namespace" else "pods"
                mine: list[Any] = []
                while not mine and run.poll() is None:  # it is created after discovery
                    items = connection.items(f"/api/v1/{kind}", labelSelector=RUN_LABEL)
                    mine = [
                        item
                        for item in items
                        if item["metadata"]["labels"][RUN_LABEL] != "neighbour"
                    ]
                for item in mine[:1]:
                    meta = item["metadata"]
                    inside = f"namespaces/{meta['namespace']}/" if trouble == "pod" else ""
                    connection.delete(f"/api/v1/{inside}{kind}/{meta['name']}")
            case "SIGINT" | "SIGTERM" | "SIGKILL":
                run.send_signal(getattr(signal, trouble))

    def outcome(self) -> tuple[dict[str, str], Counter[str]]:
        """Return the verdicts of the last run, and the reasons of what stayed unknown."""
        results = self.folder / "chaos" / LATEST / RESULTS
        if not results.exists():
            return {}, Counter()
        checks = json.loads(results.read_text())["checks"]
        reasons = Counter(
            check["message"].rpartition(" - ")[2][:400]
            for check in checks
            if check["verdict"] == "unknown"
        )
        return {check["id"]: check["verdict"] for check in checks}, reasons


def main() -> int:
    """Bring a lab up, and return the exit code."""
    parser = argparse.ArgumentParser(description="Short runs through bad weather.")
    parser.add_argument("--times", type=int, default=30, help="how many runs")
    parser.add_argument("--seed", type=int, default=1, help="of weather and moments")
    parser.add_argument("--profile", default="win2022-l2bridge-dsr", help="of the lab")
    parser.add_argument("--trouble", action="append", choices=TROUBLES, help="one of the troubles")
    parser.add_argument("--flow", action="append", help="what the runs test (repeatable)")
    wanted = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # runs inherit it where it is ignored
    name = f"chaos-{wanted.seed}"
    words = ("up", "--profile", wanted.profile, "--name", name, "--json", f"--while={os.getpid()}")
    up = subprocess.run([*LAB, *words], capture_output=True, text=True, check=False)
    if up.returncode:
        say(up.stderr)
        return 1
    try:
        with ending_signals(), tempfile.TemporaryDirectory() as folder:
            stated = {"name": name, **json.loads(up.stdout)}
            return Chaos(stated, Path(folder), wanted).carry_out()
    finally:
        subprocess.run([*LAB, "down", "--name", name], capture_output=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
