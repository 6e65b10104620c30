"""An API server of its own for each test, on loopback with TLS, and ways to speak to it."""

import asyncio
import contextlib
import json
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
import trustme

from nettests.lab.apiserver import (
    ApiSettings,
    Rule,
    Store,
    User,
    administrator,
    create_app,
    start,
)
from nettests.lab.client import Client
from tests.lab.apiserver.kubelets import NODES, TestNodes
from tests.lab.apiserver.workload import Workload

T = TypeVar("T")
TOKEN = "admin-token"
READER_TOKEN = "reader-token"


@dataclass(slots=True, kw_only=True)
class Running:
    """A served API server and what belongs to it."""

    url: str
    ca_file: Path
    client_tls: ssl.SSLContext
    server_tls: ssl.SSLContext
    nodes: TestNodes
    settings: ApiSettings
    store: Store = field(repr=False)

    def client(self, agent: str = "test", token: str = TOKEN) -> Client:
        """Return a client, to be entered."""
        return Client(self.url, token, agent=agent, tls=self.client_tls)

    def kubeconfig(self, path: Path) -> Path:
        """Write a kubeconfig for this server."""
        cluster = {"server": self.url, "certificate-authority": str(self.ca_file)}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "lab", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": TOKEN}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "admin"}}],
            "current-context": "lab",
        }
        path.write_text(json.dumps(document))
        return path


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """A certificate authority for the session."""
    return trustme.CA()


@pytest.fixture
def settings() -> ApiSettings:
    """Settings with an administrator and a user who may only read pods in ``default``."""
    rule = Rule(verbs=("get", "list"), resources=("pods",), namespaces=("default",))
    reader = User(name="reader", groups=("system:authenticated",), rules=(rule,))
    return ApiSettings(tokens={TOKEN: administrator(), READER_TOKEN: reader}, bookmark_seconds=0.3)


Serve = Callable[[ApiSettings], contextlib.AbstractAsyncContextManager[Running]]


@pytest.fixture
def serve(authority: trustme.CA, tmp_path: Path) -> Serve:
    """Start an API server; an async context manager."""
    certificate = authority.issue_cert("127.0.0.1", *NODES.values())
    server_tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificate.configure_cert(server_tls)
    client_tls = ssl.create_default_context()
    authority.configure_trust(client_tls)
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))

    @contextlib.asynccontextmanager
    async def serving(settings: ApiSettings) -> AsyncIterator[Running]:
        listening = socket.create_server(("127.0.0.1", 0))
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        settings = replace(settings, server_address=address)
        nodes, store = TestNodes(), Store()
        app = create_app(store=store, kubelets=nodes.kubelets, dial=nodes.dial, settings=settings)
        runner = await start(app, listening, server_tls)
        try:
            yield Running(
                url=f"https://{address}",
                ca_file=ca_file,
                client_tls=client_tls,
                server_tls=server_tls,
                nodes=nodes,
                settings=settings,
                store=store,
            )
        finally:
            await runner.cleanup()

    return serving


@pytest.fixture
def api(
    serve: Serve, settings: ApiSettings
) -> Callable[[Callable[[Running], Coroutine[Any, Any, T]]], T]:
    """Run a coroutine function against a new API server and return its result."""

    def run(test: Callable[[Running], Coroutine[Any, Any, T]]) -> T:
        async def main() -> T:
            async with serve(settings) as running:
                return await test(running)

        return asyncio.run(main())

    return run


@pytest.fixture
def cluster(
    serve: Serve, settings: ApiSettings
) -> Callable[[Callable[[Running], Coroutine[Any, Any, T]]], T]:
    """As ``api``, with the test's nodes that bring pods to run."""

    def run(test: Callable[[Running], Coroutine[Any, Any, T]]) -> T:
        async def main() -> T:
            async with (
                serve(settings) as running,
                running.client("kubelet") as client,
                Workload(client, running.nodes, running.server_tls),
            ):
                return await test(running)

        return asyncio.run(main())

    return run


@pytest.fixture
def served(serve: Serve, settings: ApiSettings) -> Iterator[Running]:
    """A cluster served from a thread, for clients that block."""
    ready: Future[Running] = Future()
    stopping: list[Callable[[], object]] = []

    async def main() -> None:
        done = asyncio.Event()
        loop = asyncio.get_running_loop()
        stopping.append(lambda: loop.call_soon_threadsafe(done.set))
        async with (
            serve(settings) as running,
            running.client("kubelet") as client,
            Workload(client, running.nodes, running.server_tls),
        ):
            ready.set_result(running)
            await done.wait()

    def run() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
            raise

    thread = threading.Thread(target=run, name="api-server")
    thread.start()
    try:
        yield ready.result(timeout=20)
    finally:
        for stop in stopping:
            stop()
        thread.join(timeout=20)
