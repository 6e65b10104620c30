"""Texts of Windows' tools in each language: in their code page, and what a host of that language prints."""

import errno
import re
from dataclasses import replace
from typing import Any

import pytest

from nettests.lab.interfaces import Machine, Process
from nettests.lab.programs.sockets.transport import Call, call_text
from nettests.lab.programs.terminal import encode
from nettests.lab.programs.windows import texts
from nettests.lab.topology import OS
from nettests.lab.topology.windows_settings import LOCALES, WindowsSettings
from tests.lab.programs.worlds import World, in_world, start, windows

REPLIES = {
    "en-US": "Reply from 127.0.0.1: bytes=32 time<1ms TTL=",
    "de-DE": "Antwort von 127.0.0.1: Bytes=32 Zeit<1ms TTL=",
    "fr-FR": "Réponse de 127.0.0.1 : octets=32 temps<1ms TTL=",
    "es-ES": "Respuesta desde 127.0.0.1: bytes=32 tiempo<1m TTL=",
    "pt-BR": "Resposta de 127.0.0.1: bytes=32 tempo<1ms TTL=",
    "ru-RU": "Ответ от 127.0.0.1: число байт=32 время<1мс TTL=",
    "zh-CN": "来自 127.0.0.1 的回复: 字节=32 时间<1ms TTL=",
    "ja-JP": "127.0.0.1 からの応答: バイト数 =32 時間 <1ms TTL=",
    "ko-KR": "127.0.0.1의 응답: 바이트=32 시간<1ms TTL=",
}


def replies(reply: str, printed: str) -> bool:
    """Whether ping printed that reply, which on a busy machine takes a millisecond or more."""
    until, _, _ = reply.partition("<")
    return reply in printed or re.search(f"{re.escape(until)}=[0-9]", printed) is not None


def test_ping_speaks_the_language_of_its_host_in_its_code_page() -> None:
    """A container of the same node pings in English, as its image does; the exit code is the same everywhere."""

    @in_world()
    async def test(world: World) -> None:
        host = windows(world.spare, host_process=True)
        for locale, reply in REPLIES.items():
            node = WindowsSettings(locale=locale)
            running = start(replace(host, windows=node), ["ping.exe", "-n", "1", "127.0.0.1"])
            assert await running.task == 0
            assert replies(reply, running.stdout.decode(texts.of(locale).oem))
        inside = start(replace(host, windows=node, host_process=False), running.process.argv)
        assert await inside.task == 0
        assert replies(REPLIES["en-US"], inside.stdout.decode())

    test()


@pytest.mark.parametrize("locale", LOCALES)
def test_texts_are_those_of_a_console_of_that_language(locale: str) -> None:
    """Each text is one that the code page has, once typographic marks are those that stand for them; inferred keys exist."""
    said = texts.of(locale)
    for group, entries in said.groups.items():
        process = _process(said.ansi if group == "nslookup" else said.oem)
        for text in (text for text in entries.values() if isinstance(text, str)):
            assert b"?" not in encode(process, text.replace("?", ""))
    for name in said.inferred:
        group, _, key = name.partition(".")
        assert group in said.groups
        assert not key or key in map(str, said.groups[group])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "actively refused it."),
        ({"locale": "zh-CN"}, "由于目标计算机积极拒绝，无法连接。"),
        ({"locale": "zh-CN", "english_messages": True}, "actively refused it."),
    ],
)
def test_go_requests_english_messages_first(settings: dict[str, Any], sentence: str) -> None:
    """Where a host lacks them, its own language follows; texts of images are English."""
    machine = Machine(**_PARTS, host_process=True, windows=WindowsSettings(**settings))
    refused = OSError(errno.ECONNREFUSED, "")
    assert call_text(OS.WINDOWS, Call.CONNECT, refused, machine.message_locale).endswith(sentence)
    inside = replace(machine, host_process=False)
    assert "refused it" in call_text(OS.WINDOWS, Call.CONNECT, refused, inside.message_locale)


_PARTS: dict[str, Any] = {
    "os": OS.WINDOWS,
    "hostname": "win-1",
    "namespace": None,
    "addresses": (),
    "gateway": "",
    "resolver": None,
}


def _process(encoding: str) -> Process:
    async def nowhere(_data: bytes) -> None:
        return None

    machine = Machine(**_PARTS)
    return Process(
        argv=(), environment={}, machine=machine, stdout=nowhere, stderr=nowhere, encoding=encoding
    )
