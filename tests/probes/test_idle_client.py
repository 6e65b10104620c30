"""The clients that say what they took: run by a real bash, through pipes, against real servers."""

import re
import select
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

import pytest

from nettests.model.words import OS
from nettests.parse.idle import Fate, fate, opened, refused
from nettests.probes.client_scripts import ECHO, TRIALS, WEB

BASH, BUSYBOX = shutil.which("bash"), shutil.which("busybox")
PATIENCE = 15.0
REPLY, SILENCE = 10, 3
"""Seconds that a client waits for an answer that comes, on a busy machine too, and for one that does not."""
needs_bash = pytest.mark.skipif(BASH is None, reason="there is no bash here")
needs_busybox = pytest.mark.skipif(BUSYBOX is None, reason="there is no busybox here")


@dataclass(slots=True)
class Client:
    """A client that is spoken to through pipes, as an exec without a terminal has them."""

    process: "subprocess.Popen[bytes]"
    said: str = ""
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _reader: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def end(self) -> None:
        """End it, and read what it said until then."""
        self.process.kill()
        self._reader.join(PATIENCE)

    def _read(self) -> None:
        assert self.process.stdout is not None
        while data := self.process.stdout.read1(1000):  # type: ignore[attr-defined]
            with self._changed:
                self.said += data.decode()
                self._changed.notify_all()

    def say(self, word: str) -> Fate:
        """Say a word; return what became of it."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n".encode())
        self.process.stdin.flush()
        self.hear(lambda said: fate(said, word) is not Fate.UNTOLD)
        return fate(self.said, word)

    def hear(self, enough: Callable[[str], bool]) -> None:
        """Wait until it has said enough."""
        with self._changed:
            assert self._changed.wait_for(lambda: enough(self.said), PATIENCE), self.said


@contextmanager
def speaking(port: int, *, seconds: int = REPLY) -> Iterator[Client]:
    """Run the Linux client, which waits so long for each answer."""
    words = ECHO.words(OS.LINUX, "127.0.0.1", port, seconds)
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        client = Client(process)
        try:
            yield client
        finally:
            client.end()


@contextmanager
def serving(act: Callable[[socket.socket], None]) -> Iterator[int]:
    """Send the first word back; ``act`` on the connection then, and wait for the client's end."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        over = threading.Event()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(connection.recv(100))
                act(connection)
                over.wait(PATIENCE)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            over.set()
            thread.join()


def reset(connection: socket.socket) -> None:
    """End a connection by a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def reset_after_a_word(connection: socket.socket) -> None:
    """Take a word, and reset."""
    connection.recv(100)
    reset(connection)


def close(connection: socket.socket) -> None:
    """End a connection in order, and take what comes after: closing over an unread word would be a reset."""
    connection.shutdown(socket.SHUT_WR)


@needs_bash
@needs_busybox
def test_words_come_back_from_busybox() -> None:
    """The server that runs in Linux Pods answers every word at once, whatever lies between them."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    serve = ("busybox", "nc", "-l", "-p", str(port), "-e", "cat")
    with subprocess.Popen(serve, stdin=subprocess.DEVNULL) as server:
        try:
            deadline = time.monotonic() + PATIENCE
            while time.monotonic() < deadline:
                with speaking(port) as client:
                    client.hear(lambda said: opened(said) or refused(said))
                    if opened(client.said):
                        assert [client.say(word) for word in ("before", "after")] == [
                            Fate.ANSWERED,
                            Fate.ANSWERED,
                        ]
                        break
            else:
                pytest.fail("busybox did not listen")
            assert server.wait(PATIENCE) == 0
        finally:
            server.kill()


@needs_bash
@pytest.mark.parametrize(
    ("act", "becomes"),
    [
        (lambda _connection: None, Fate.SILENT),
        (reset_after_a_word, Fate.RESET),
        (reset, Fate.RESET),
        (close, Fate.OTHER),
    ],
    ids=["silence", "reset-by-the-word", "reset-before", "closed"],
)
def test_the_end_of_a_connection_is_told(
    act: Callable[[socket.socket], None], becomes: Fate
) -> None:
    """Silence, resets and an orderly end are told apart, whenever they happen."""
    seconds = SILENCE if becomes is Fate.SILENT else REPLY
    with serving(act) as port, speaking(port, seconds=seconds) as client:
        assert client.say("before") is Fate.ANSWERED
        assert client.say("after") is becomes


@needs_bash
def test_a_refusal_is_told() -> None:
    """Nobody listens: the client says so and ends with 7."""
    with closing(socket.socket()) as bound:
        bound.bind(("127.0.0.1", 0))
        with speaking(bound.getsockname()[1]) as client:
            client.hear(refused)
            assert client.process.wait(PATIENCE) == 7


@needs_bash
def test_the_trial_of_bash_succeeds_where_the_client_works() -> None:
    """It finds out whether bash was made with network redirections."""
    assert subprocess.run(TRIALS["bash"], check=False).returncode == 0


def test_powershells_script_takes_the_address_as_it_is() -> None:
    """Words of a Windows command line: no double quotes, no line ends, nothing left to fill in."""
    script = ECHO.words(OS.WINDOWS, "fd00::5", 21000, 10)[-1]
    assert "[Net.IPAddress]::Parse('fd00::5')" in script
    assert "Connect($a,21000)" in script
    assert "ReadTimeout=1000*10;" in script
    assert not re.search(r'["\n%]|HOST|PORT|SECONDS|\$input', script)
    assert script.count("{") == script.count("}")


@pytest.mark.parametrize("system", OS)
def test_only_addresses_become_part_of_a_script(system: OS) -> None:
    """What is no address is refused before anybody runs it."""
    with pytest.raises(ValueError, match="does not appear to be"):
        ECHO.words(system, "x'; Remove-Item C:", 21000, 10)


@needs_bash
def test_the_stream_of_errors_stays_open_while_it_speaks() -> None:
    """containerd 2.1 closes the input of a process whose stream of errors has ended."""
    with serving(lambda _connection: None) as port:
        words = ECHO.words(OS.LINUX, "127.0.0.1", port, REPLY)
        pipe = subprocess.PIPE
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe) as process:
            client = Client(process)
            client.hear(opened)
            assert process.stderr is not None
            ended, _, _ = select.select([process.stderr], [], [], 0.2)
            answered = client.say("before")
            process.kill()
    assert (ended, answered) == ([], Fate.ANSWERED)


@contextmanager
def web_serving(answers: list[bytes], act: Callable[[socket.socket], None]) -> Iterator[int]:
    """Answer one request after the other over one connection, and ``act`` on it when there are no more answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        over = threading.Event()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                for answer in answers:
                    request = b""
                    while not request.endswith(b"\r\n\r\n"):
                        request += (data := connection.recv(1000))
                        assert data
                    assert request.startswith(b"HEAD / HTTP/1.1\r\nHost: web:80\r\n")
                    connection.sendall(answer)
                act(connection)
                over.wait(PATIENCE)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            over.set()
            thread.join()


@contextmanager
def requesting(port: int, *, seconds: int = REPLY) -> Iterator[Client]:
    """Run the Linux client that speaks HTTP, which waits so long for each answer."""
    *words, _name = WEB.words(OS.LINUX, "127.0.0.1", port, seconds)
    with subprocess.Popen(
        [*words, "web:80"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        client = Client(process)
        try:
            yield client
        finally:
            client.end()


OK = b"HTTP/1.1 200 OK\r\nDate: Mon\r\nContent-Length: 5\r\n\r\n"
PLAIN = b"HTTP/1.1 404 Not Found\nServer: x\n\n"


def stays(_connection: socket.socket) -> None:
    """Keep the connection."""


def says_more(connection: socket.socket) -> None:
    """Say something that answers nothing."""
    connection.sendall(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
    time.sleep(0.1)


@needs_bash
@pytest.mark.parametrize("answer", [OK, PLAIN])
def test_a_web_server_answers_each_word_over_one_connection(answer: bytes) -> None:
    """Headers are read to their end, so that they are not taken for the next answer."""
    with web_serving([answer] * 3, stays) as port, requesting(port) as client:
        words = [client.say(word) for word in ("before", "after", "more")]
    assert words == [Fate.ANSWERED] * 3, client.said


@needs_bash
@pytest.mark.parametrize(
    ("act", "becomes"),
    [
        (stays, Fate.SILENT),
        (close, Fate.OTHER),
        (says_more, Fate.OTHER),
        (reset, Fate.RESET),
    ],
    ids=["silence", "closed", "says-more", "reset"],
)
def test_the_end_of_a_web_connection_is_told(
    act: Callable[[socket.socket], None], becomes: Fate
) -> None:
    """What a server ends in order is no flow that was forgotten; what answers nothing, or a reset, may be."""
    over = threading.Event()

    def then(connection: socket.socket) -> None:
        act(connection)
        over.set()

    seconds = SILENCE if becomes is Fate.SILENT else REPLY
    with web_serving([OK], then) as port, requesting(port, seconds=seconds) as client:
        assert client.say("before") is Fate.ANSWERED
        assert over.wait(PATIENCE)
        time.sleep(0.1)  # loopback has delivered it
        assert client.say("after") is becomes, client.said


@needs_bash
def test_what_is_no_web_server_answers_no_word() -> None:
    """Its greeting is no answer to a request."""
    with web_serving([b"SSH-2.0-OpenSSH_9.2\r\n\r\n"], stays) as port, requesting(port) as client:
        assert client.say("before") is Fate.OTHER


def test_a_web_server_is_told_its_name() -> None:
    """Address and port, as a browser would; an IPv6 address in brackets."""
    for system in OS:
        for host, name in (("198.51.100.10", "198.51.100.10:80"), ("fd00::1", "[fd00::1]:80")):
            assert name in WEB.words(system, host, 80, 5)[-1]
