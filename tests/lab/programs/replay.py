"""Replays the transcript against the lab's programs, in a world like the one it was recorded in.

Each row becomes real traffic: HTTP and UDP on sockets in the server's namespace, programs run with the
recorded argv. The outcome of a row is the difference from the recording, or nothing.
"""

import asyncio
import contextlib
import errno
import re
import socket
import ssl
from dataclasses import replace
from ipaddress import IPv4Address

from nettests.lab.dns.server import ClusterDns, OutsideResolver, forward_to
from nettests.lab.dns.zone import view_from_objects
from nettests.lab.interfaces import Machine, ProgramNotFoundError
from tests.lab.programs import transcript, worlds
from tests.lab.programs.transcript import Row
from tests.lab.programs.worlds import Running, World

Difference = str | None

_NOT_COMPARED = ("meta",)
_SLOW = 0.5
_UDP_SILENCE = 1.5
_CLOSED_PORT = 8099
_EXITS = {-15: 143, -9: None}
_SCRIPTED = {9301: "ok,eof", 9302: "eof,end", 9303: "end,eof,end"}
_OUTSIDE = "198.18.0.53"

POD_RULES = """
table ip services {
  chain pre {
    type nat hook prerouting priority dstnat
    ip daddr 10.96.247.61 tcp dport 80 dnat ip to numgen random mod 3 map {
      0 : 10.244.2.5 . 9101, 1 : 10.244.2.5 . 9102, 2 : 10.244.2.5 . 9103 }
    ip daddr { 172.30.0.11, 172.30.0.12 } tcp dport 30080 dnat ip to 10.244.2.5:8080
  }
  chain post {
    type nat hook postrouting priority srcnat
    ct original ip daddr 172.30.0.12 snat ip to 172.30.0.12
    ct original ip daddr 172.30.0.11 snat ip to 10.244.1.1
  }
  chain empty {
    type filter hook prerouting priority filter
    ip daddr 10.96.63.117 tcp dport 80 reject with tcp reset
  }
}
"""
_SERVICES = [
    {
        "metadata": {"namespace": "demo", "name": name},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": address,
            "ports": [{"name": "http", "port": 80}],
        },
    }
    for name, address in (("web", "10.96.247.61"), ("noep", "10.96.63.117"))
]


def prepare(world: World) -> None:
    """Give the router the cluster's DNS address, the outside resolver and the Service rules."""
    worlds.own(world, "10.96.0.10")
    worlds.own(world, _OUTSIDE)
    worlds.rules(world, POD_RULES)


async def replay(world: World) -> dict[int, Difference]:
    """Replay every row; return the difference by line."""
    outcomes: dict[int, Difference] = {}
    await asyncio.gather(
        _main_server(world, outcomes),
        _other_servers(world, outcomes),
        _alone(world, outcomes),
        _in_pod(world, outcomes),
    )
    return outcomes


async def _alone(world: World, outcomes: dict[int, Difference]) -> None:
    """Programs that need no server: help texts and resolver settings."""
    for row in transcript.rows():
        if row.kind == "cli" and not 20 <= row.line <= 205:
            outcomes[row.line] = await _program(world.n1, row)


async def _main_server(world: World, outcomes: dict[int, Difference]) -> None:
    """The long-running netexec of n1: most HTTP and UDP rows, and ``agnhost connect``."""
    queried, log = next(group for group in transcript.groups() if group[1].line == 148)
    server = await world.serve(world.n1, log.data["argv"], [8080, 8081])
    helpers = [await _scripted(world.n1, port, script) for port, script in _SCRIPTED.items()]
    slow = []
    for row in queried:
        task = asyncio.create_task(_query_server(world.n1, row, server))
        slow.append((row, task))
        if row.data.get("elapsed_s", _SLOW + 1) < _SLOW:
            await task
    for row, task in slow:
        outcomes[row.line] = await task
    for helper in helpers:
        helper.cancel()
    code = await server.terminate()
    outcomes[log.line] = _compare_log(log, code, server.stderr.decode(), partly=True)


async def _other_servers(world: World, outcomes: dict[int, Difference]) -> None:
    """Every other server of n1, one after the other, each on ports of its own."""
    groups = [group for group in transcript.groups() if group[1].line != 148]
    for queried, log in groups:
        if log.line in (188, 189):
            continue
        server = await world.serve(world.spare, log.data["argv"], _ports(log.data["argv"]))
        for row in queried:
            outcomes[row.line] = await _query_server(world.spare, row, server)
        outcomes[log.line] = await _end(log, server)
    (_, taken), (_, holder) = (group for group in groups if group[1].line in (188, 189))
    first = await world.serve(world.spare, holder.data["argv"], [8083, 8084])
    second = worlds.start(world.spare, taken.data["argv"])
    outcomes[taken.line] = _compare_log(taken, await second.task, second.stderr.decode())
    outcomes[holder.line] = await _end(holder, first)


def _ports(argv: list[str]) -> list[int]:
    """The ports a server of the transcript opens."""
    return [int(found) for word in argv for found in re.findall(r"port=(\d+)", word)]


async def _end(log: Row, server: Running) -> Difference:
    """Send SIGTERM, then SIGKILL where the recording did; compare exit code, output and log."""
    if _EXITS.get(log.data["exit_code"], 0) is None:
        server.process.terminate.set()
        await asyncio.sleep(0.1)
        await server.kill()
        return _compare_log(log, log.data["exit_code"], server.stderr.decode())
    code = await server.terminate()
    if server.stdout.decode() != log.data["stdout"]:
        return f"stdout {server.stdout.decode()!r}"
    return _compare_log(log, code, server.stderr.decode())


def _compare_log(log: Row, code: int, stderr: str, *, partly: bool = False) -> Difference:
    wanted = _EXITS.get(log.data["exit_code"], log.data["exit_code"])
    if wanted is not None and code != wanted:
        return f"exit code {code}, recorded {wanted}"
    recorded, seen = transcript.log_lines(log.data["stderr"]), transcript.log_lines(stderr)
    if partly:
        missing = [line for line in recorded if line not in seen]
        return f"log lacks {missing}" if missing else None
    return None if recorded == seen else f"log {seen}, recorded {recorded}"


async def _query_server(machine: Machine, row: Row, server: Running) -> Difference:
    if row.kind == "http":
        return await _http(machine, row, server)
    if row.kind == "udp":
        return await _udp(machine, row)
    if row.kind == "note":
        return await _note(row, server)
    if row.kind in _NOT_COMPARED:
        return None
    return await _program(machine, row)


async def _note(row: Row, server: Running) -> Difference:
    """Sample: ``after /exit?code=5: server alive=False exit=5``."""
    found = re.fullmatch(r".*server alive=(True|False) exit=(\d+|None)", row.data["text"])
    if found is None:
        return "a note that is not understood"
    await asyncio.wait({server.task}, timeout=0 if found[1] == "True" else 5)
    alive = not server.task.done()
    code = None if alive else server.task.result()
    return None if (str(alive), str(code)) == found.groups() else f"alive={alive} exit={code}"


async def _program(machine: Machine, row: Row) -> Difference:
    ended = await worlds.finish(machine, row.data["argv"], _environment(row))
    return _compare_program(row, ended)


def _environment(row: Row) -> dict[str, str]:
    """``env`` prints what its container was given; the recording says what that was."""
    if row.data["argv"] != ["env"]:
        return {}
    return dict(line.split("=", 1) for line in row.data["stdout"].splitlines())


def _compare_program(row: Row, ended: worlds.Finished) -> Difference:
    for name, seen in (("stdout", ended.stdout), ("stderr", ended.stderr)):
        # The recorder read text, so line ends of HTTP heads are single newlines in it.
        mine = transcript.blot_body(seen.replace("\r\n", "\n"))
        if mine != transcript.blot_body(row.data[name]):
            return f"{name} {mine!r}, recorded {transcript.blot_body(row.data[name])!r}"
    if ended.code != row.data["exit_code"]:
        return f"exit code {ended.code}, recorded {row.data['exit_code']}"
    return None


async def _http(machine: Machine, row: Row, server: Running) -> Difference:
    request = row.data["request"]
    if "after SIGTERM" in (row.data["note"] or ""):
        server.process.terminate.set()
    version = "1.0" if _asked_with_old_version(row) else "1.1"
    lines = [f"{request['method']} {request['target']} HTTP/{version}"]
    lines += [f"{name}: {value}" for name, value in request["headers"].items()]
    data = "\r\n".join([*lines, "", request["body"]]).encode()
    port = int(request["headers"]["Host"].rpartition(":")[2])
    encrypted = row.data["server"].endswith("TLS") and "plain" not in (row.data["note"] or "")
    seen = await _converse(machine, port, data, encrypted=encrypted)
    recorded = transcript.recorded_response(row)
    if not seen and recorded is None:
        return None
    mine, its = transcript.blot_body(seen), transcript.blot_body(recorded or "")
    return None if mine == its else f"{mine!r}, recorded {its!r}"


def _asked_with_old_version(row: Row) -> bool:
    response = row.data["response"]
    return bool(response) and response["status_line"] == "HTTP/1.0 200 OK"


async def _converse(machine: Machine, port: int, data: bytes, *, encrypted: bool) -> str:
    sock = machine.namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
    context = None
    if encrypted:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    name = "localhost" if encrypted else None
    reader, writer = await asyncio.open_connection(sock=sock, ssl=context, server_hostname=name)
    writer.write(data)
    try:
        return (await reader.read(-1)).decode()
    except ConnectionResetError:
        return ""
    finally:
        writer.close()


async def _udp(machine: Machine, row: Row) -> Difference:
    port = {186: 8084}.get(row.line, 8081)
    if row.data["note"] == "closed port":
        port = _CLOSED_PORT
    response, error = await _datagram(machine, port, row.data["request"].encode())
    wanted = (
        transcript.blot(row.data["response"] or ""),
        (row.data["error"] or "").partition("(")[0],
    )
    mine = transcript.blot(response), error
    return None if mine == wanted else f"{mine}, recorded {wanted}"


async def _datagram(machine: Machine, port: int, data: bytes) -> tuple[str, str]:
    loop = asyncio.get_running_loop()
    with machine.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(("127.0.0.1", port))
        await loop.sock_sendall(sock, data)
        try:
            async with asyncio.timeout(_UDP_SILENCE):
                return (await loop.sock_recv(sock, 4096)).decode(), ""
        except OSError as error:
            refused = error.errno == errno.ECONNREFUSED
            return "", "ConnectionRefusedError" if refused else "TimeoutError"


async def _scripted(machine: Machine, port: int, script: str) -> "asyncio.Task[None]":
    """A server that answers, or closes without a word, in the order of ``script``."""
    listener = machine.namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    loop = asyncio.get_running_loop()

    async def serve() -> None:
        with listener:
            for word in script.split(","):
                connection, _ = await loop.sock_accept(listener)
                with connection:
                    await loop.sock_recv(connection, 4096)
                    if word != "eof":
                        body = f"Content-Length: {len(word)}\r\nConnection: close\r\n\r\n{word}"
                        reply = f"HTTP/1.1 200 OK\r\n{body}".encode()
                        await loop.sock_sendall(connection, reply)

    return asyncio.create_task(serve())


async def _in_pod(world: World, outcomes: dict[int, Difference]) -> None:
    """The rows recorded inside a pod of a two-node cluster."""
    outside = OutsideResolver({})
    outside.start(world.router, IPv4Address(_OUTSIDE))
    view = view_from_objects(_SERVICES, [], "cluster.local")
    cluster = ClusterDns(view, forward=forward_to(world.router, IPv4Address(_OUTSIDE)))
    cluster.start(world.router, IPv4Address("10.96.0.10"))
    server = await world.serve(world.pod, ["/agnhost", "netexec"], [8080, 8081])
    await world.serve(world.peer, ["/agnhost", "netexec"], [8080, 8081])
    for port, name in ((9101, "web-79b54bb699-cb2zj"), (9102, "web-79b54bb699-w927w")):
        await _backend(world, port, name)
    await _backend(world, 9103, "web-79b54bb699-55rzp")
    rows = [row for row in transcript.rows() if row.kind == "pod-cli"]
    differences = await asyncio.gather(*(_pod_program(world, row) for row in rows))
    outcomes.update({row.line: found for row, found in zip(rows, differences, strict=True)})
    with contextlib.suppress(StopIteration):
        log = next(row for row in transcript.rows() if row.kind == "pod-log")
        outcomes[log.line] = await _pod_log(world, log, server)
    await cluster.stop()
    await outside.stop()


async def _backend(world: World, port: int, name: str) -> None:
    machine = replace(world.peer, hostname=name)
    argv = ["/agnhost", "netexec", f"--http-port={port}", "--udp-port=-1"]
    await world.serve(machine, argv, [port])


async def _pod_program(world: World, row: Row) -> Difference:
    try:
        ended = await worlds.finish(world.pod, row.data["argv"], _environment(row))
    except ProgramNotFoundError as error:
        return str(error)
    if row.line == 218:
        ended = worlds.Finished(ended.code, _any_backend(ended.stdout), ended.stderr)
        row = Row(row.line, {**row.data, "stdout": _any_backend(row.data["stdout"])})
    return _compare_program(row, ended)


def _any_backend(text: str) -> str:
    """Which of the backends answered is chance, on both sides."""
    return re.sub(r"web-79b54bb699-(cb2zj|w927w|55rzp)", "web-BACKEND", text)


async def _pod_log(world: World, log: Row, server: Running) -> Difference:
    """Every line of the recorded log, once the requests of before the recording were made too."""
    early = "/dial?host=web.demo&protocol=http&port=80&request=hostname&tries=1"
    for target in (early, "/healthz"):
        await worlds.finish(world.pod, ["curl", "-s", f"http://127.0.0.1:8080{target}"])
    recorded = transcript.log_lines(log.data["stdout"])
    seen = transcript.log_lines(server.stderr.decode())
    missing = sorted({line for line in recorded if line not in seen})
    return f"log lacks {missing}" if missing else None
