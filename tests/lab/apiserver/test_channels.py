"""exec, attach, port-forward, logs and proxies against running pods, and how they break."""

import asyncio
import json

import aiohttp
import pytest

from nettests.lab.apiserver import ChannelRequest
from nettests.lab.client import ApiError, Client
from tests.lab.apiserver.conftest import Running
from tests.lab.apiserver.objects import PODS, SERVICES, pod

pytestmark = pytest.mark.usefixtures("pods_run")
EXEC = f"{PODS}/web/exec?stdout=1&stderr=1"


async def _web(client: Client) -> None:
    """Create the pod ``web`` and wait until it runs."""
    await client.create(PODS, pod("web"))
    async with asyncio.timeout(10):
        while (await client.get(f"{PODS}/web"))["status"]["phase"] != "Running":
            await asyncio.sleep(0.02)


async def _frames(client: Client, path: str, protocol: str = "v5.channel.k8s.io") -> list[bytes]:
    async with client._require().ws_connect(path, protocols=[protocol]) as socket:
        return [
            message.data async for message in socket if message.type is aiohttp.WSMsgType.BINARY
        ]


async def test_output_arrives_on_its_channel_and_the_status_last(client: Client) -> None:
    """Channel 1 is stdout, 2 stderr, 3 the status with the exit code."""
    await _web(client)
    path = f"{EXEC}&command=sh&command=-c&command=echo%20out;echo%20err%20>%262;exit%203"
    *frames, last = await _frames(client, path)
    assert b"\x01out\n" in frames
    assert b"\x02err\n" in frames
    assert last[0] == 3
    assert json.loads(last[1:])["details"]["causes"][0]["message"] == "3"


async def test_a_stream_that_was_not_requested_is_not_sent(client: Client) -> None:
    """Without ``stderr=1`` nothing comes on channel 2."""
    await _web(client)
    command = "command=sh&command=-c&command=echo%20err%20>%262"
    frames = await _frames(client, f"{PODS}/web/exec?stdout=1&{command}")
    assert {frame[0] for frame in frames} == {1, 3}


async def test_a_program_ends_with_its_client(client: Client, running: Running) -> None:
    """When the WebSocket is dropped, what runs for it is ended."""
    await _web(client)
    path = f"{EXEC}&command=sleep&command=1000"
    socket = await client._require().ws_connect(path, protocols=["v5.channel.k8s.io"])
    assert await socket.receive_bytes() == b"\x01"
    assert len(running.settings.faults.channels) == 1
    await socket.close()
    async with asyncio.timeout(10):
        while running.settings.faults.channels:
            await asyncio.sleep(0.01)


async def test_old_protocols_have_no_status_channel(client: Client) -> None:
    """``channel.k8s.io`` sends an error as text and success as nothing."""
    await _web(client)
    failing = f"{EXEC}&command=sh&command=-c&command=exit%202"
    frames = await _frames(client, failing, "channel.k8s.io")
    assert frames[-1].endswith(b"command terminated with exit code 2")


@pytest.mark.parametrize(
    ("what", "instead"),
    [
        ("exec?command=ls&stdout=1", "use kubectl 1.30 or newer"),
        ("portforward?ports=1", "use `kubectl proxy`"),
    ],
)
async def test_raw_spdy_is_told_which_client_to_use(
    client: Client, what: str, instead: str
) -> None:
    """A Status names what works instead."""
    await _web(client)
    headers = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1"}
    async with client._require().post(f"{PODS}/web/{what}", headers=headers) as response:
        status = await response.json(content_type=None)
    assert (status["code"], status["reason"]) == (400, "BadRequest")
    assert instead in status["message"]


async def test_attach_shows_what_the_container_logs_from_now_on(
    client: Client, running: Running
) -> None:
    """Lines that were logged before are not repeated."""
    await _web(client)
    path = f"{PODS}/web/attach?stdout=1"
    protocols = ["v5.channel.k8s.io"]
    async with client._require().ws_connect(path, protocols=protocols) as socket:
        assert await socket.receive_bytes() == b"\x01"
        log = running.nodes.kubelets["n2"].logs["default/web"]
        await asyncio.sleep(0.3)
        log.append(("2026-11-21T00:00:00Z", b"new\n"))
        assert await socket.receive_bytes() == b"\x01new\n"


async def test_two_ports_are_forwarded_side_by_side(client: Client) -> None:
    """Each port has its data and error channel; a closed one does not disturb the other."""
    await _web(client)
    path = f"{PODS}/web/portforward?ports=9&ports=8080"
    protocols = ["v4.channel.k8s.io"]
    async with client._require().ws_connect(path, protocols=protocols) as socket:
        await socket.send_bytes(b"\x02GET /hostname HTTP/1.0\r\n\r\n")
        channels: dict[int, bytes] = {}
        async for message in socket:
            channels[message.data[0]] = channels.get(message.data[0], b"") + message.data[1:]
    assert channels[0] == (9).to_bytes(2, "little")
    assert b"connection refused" in channels[1]
    assert channels[2].endswith(b"web")
    assert channels[3] == (8080).to_bytes(2, "little")


@pytest.mark.parametrize("ports", ["0", "70000", "http"])
async def test_a_port_must_be_a_port(client: Client, ports: str) -> None:
    """A 400 in plain text, as the kubelet gives it."""
    await _web(client)
    path = f"{PODS}/web/portforward?ports={ports}"
    with pytest.raises(aiohttp.WSServerHandshakeError) as error:
        await client._require().ws_connect(path, protocols=["v4.channel.k8s.io"])
    assert error.value.status == 400


def _add_lines(running: Running, count: int) -> None:
    log = running.nodes.kubelets["n2"].logs["default/web"]
    log.clear()
    log.extend((f"2026-11-21T00:00:0{n}.000000000Z", f"line {n}\n".encode()) for n in range(count))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", "line 0\nline 1\nline 2\n"),
        ("tailLines=1", "line 2\n"),
        ("tailLines=0", ""),
        ("tailLines=9", "line 0\nline 1\nline 2\n"),
        ("timestamps=true&tailLines=1", "2026-11-21T00:00:02.000000000Z line 2\n"),
        ("sinceTime=2026-11-21T00:00:01Z", "line 1\nline 2\n"),
        ("limitBytes=10", "line 0\nlin"),
    ],
)
async def test_logs_are_cut_as_queried(
    client: Client, running: Running, query: str, expected: str
) -> None:
    """Tail, time, bytes and timestamps."""
    await _web(client)
    _add_lines(running, 3)
    async with client._require().get(f"{PODS}/web/log?{query}") as response:
        assert await response.text() == expected


async def test_a_followed_log_goes_on(running: Running) -> None:
    """``follow`` sends what is logged later, and ends when the pod is gone."""
    async with running.client() as client, running.client() as other:
        await _web(client)
        _add_lines(running, 1)
        async with client._require().get(f"{PODS}/web/log?follow=true") as response:
            assert await response.content.readline() == b"line 0\n"
            log = running.nodes.kubelets["n2"].logs["default/web"]
            log.append(("2026-11-21T00:00:09Z", b"later\n"))
            assert await response.content.readline() == b"later\n"
            await other.delete(f"{PODS}/web", {"gracePeriodSeconds": 0})
            async with asyncio.timeout(10):
                assert await response.content.read() == b""


async def test_a_pod_of_many_containers_must_be_told_which(client: Client) -> None:
    """The choices are listed."""
    item = pod("two")
    item["spec"]["containers"].append({**item["spec"]["containers"][0], "name": "d"})
    await client.create(PODS, item)
    with pytest.raises(ApiError) as error:
        await client.get(f"{PODS}/two/log")
    assert error.value.message == (
        "a container name must be specified for pod two, choose one of: [c d]"
    )


async def test_a_proxied_request_carries_no_credentials(client: Client) -> None:
    """The pod sees the client's headers without its token, and where the request came from."""
    await _web(client)
    async with client._require().get(f"{PODS}/web:8080/proxy/header") as response:
        seen = json.loads(await response.text())
    assert "Authorization" not in seen
    assert seen["X-Forwarded-For"] == ["127.0.0.1"]
    assert seen["X-Forwarded-Uri"] == [f"{PODS}/web:8080/proxy/header"]


async def test_a_body_that_breaks_off_breaks_off_for_the_client(client: Client) -> None:
    """A half answer is not made to look whole."""
    await _web(client)
    with pytest.raises(aiohttp.ClientPayloadError):
        async with client._require().get(f"{PODS}/web:8080/proxy/slow-body") as response:
            await response.read()


@pytest.mark.parametrize(
    ("name", "code"),
    [("web:http:8080", 400), ("web:x", 400), ("a:web:8080:1", 400), ("https:web:8080", 503)],
)
async def test_a_proxied_name_must_make_sense(client: Client, name: str, code: int) -> None:
    """Malformed names are 400; TLS to a plain server is 503."""
    await _web(client)
    async with client._require().get(f"{PODS}/{name}/proxy/hostname") as response:
        assert response.status == code


async def test_a_service_port_that_is_not_there_is_unavailable(client: Client) -> None:
    """A number that no port has is told apart from a Service without endpoints."""
    item = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    await client.create(SERVICES, {**item, "spec": {"ports": [{"port": 80}]}})
    with pytest.raises(ApiError) as error:
        await client.get(f"{SERVICES}/s:81/proxy/")
    assert error.value.message == 'no service port 81 found for service "s"'


async def test_a_broken_channel_fails_as_a_lost_kubelet_does(running: Running) -> None:
    """``channel_down`` gives exec, log and forward a dial error and proxies a 503; others pass."""
    seen: list[ChannelRequest] = []

    async def down(channel: ChannelRequest) -> str | None:
        seen.append(channel)
        return "dial tcp 127.20.0.12:10250: connect: connection refused"

    async with running.client() as client:
        await _web(client)
        running.settings.faults.channel_down = down
        texts = {}
        for path in ("log", "proxy/"):
            with pytest.raises(ApiError) as error:
                await client.get(f"{PODS}/web/{path}")
            texts[path] = error.value.status, error.value.message
        refused = "dial tcp 127.20.0.12:10250: connect: connection refused"
        assert texts == {
            "log": (500, f"Internal error occurred: error dialing backend: {refused}"),
            "proxy/": (503, f"error trying to reach service: {refused}"),
        }
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await _frames(client, f"{EXEC}&command=ls")
        assert [channel.kind for channel in seen] == ["log", "pod-proxy", "exec"]
        assert {channel.node for channel in seen} == {"n2"}
        running.settings.faults.channel_down = None
        assert await _frames(client, f"{EXEC}&command=true")


async def test_open_channels_can_be_cut(client: Client, running: Running) -> None:
    """Cutting drops the connection of a port-forward that was open before."""
    await _web(client)
    path = f"{PODS}/web/portforward?ports=8080"
    async with client._require().ws_connect(path, protocols=["v4.channel.k8s.io"]) as socket:
        await socket.receive_bytes()
        faults = running.settings.faults
        assert faults.cut(lambda channel: channel.kind == "exec") == 0
        assert faults.cut(lambda channel: channel.node == "n2") == 1
        async with asyncio.timeout(10):
            kinds = [message.type async for message in socket]
    assert aiohttp.WSMsgType.BINARY in kinds or socket.closed
