"""An API server of its own for each test, on loopback with TLS, and ways to speak to it."""

import asyncio
import contextlib
import inspect
import json
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

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


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine function in the event loop of its server."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names, runner = inspect.signature(pyfuncitem.obj).parameters, pyfuncitem.funcargs["runner"]
    assert isinstance(runner, asyncio.Runner)
    runner.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    """The event loop of the test's server."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def running(runner: asyncio.Runner, serve: Serve, settings: ApiSettings) -> Iterator[Running]:
    """A new API server."""
    stack = contextlib.AsyncExitStack()
    yield runner.run(stack.enter_async_context(serve(settings)))
    runner.run(stack.aclose())


@pytest.fixture
def client(runner: asyncio.Runner, running: Running) -> Iterator[Client]:
    """An administrator's client of the new API server."""
    client = runner.run(running.client().__aenter__())
    yield client
    runner.run(client.__aexit__(None, None, None))


@pytest.fixture
def pods_run(runner: asyncio.Runner, running: Running) -> Iterator[None]:
    """The test's nodes bring pods of the API server to run."""
    stack = contextlib.AsyncExitStack()

    async def start_nodes() -> None:
        client = await stack.enter_async_context(running.client("kubelet"))
        await stack.enter_async_context(Workload(client, running.nodes, running.server_tls))

    runner.run(start_nodes())
    yield
    runner.run(stack.aclose())


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
