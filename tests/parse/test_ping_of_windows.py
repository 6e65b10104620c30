"""``ping.exe`` in the languages of Windows: answers are known by their shape, and so is what is not understood."""

import pytest

from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.ping_of_windows import answers
from nettests.parse.read import not_read, read_raw
from tests.parse.raws import raw

TARGET = "10.244.2.5"
COMMAND = ("ping", "-n", "3", "-w", "2000", TARGET)
GERMAN = "\nPing wird ausgeführt für 10.244.2.5 mit 32 Bytes Daten:\n{line}\n\nPing-Statistik für 10.244.2.5:\n    Pakete: Gesendet = 3, Empfangen = 0, Verloren = 3\n    (100% Verlust),\n"
FRENCH = "\nEnvoi d'une requête 'Ping'  10.244.2.5 avec 32 octets de données :\n{line}\n\nStatistiques Ping pour 10.244.2.5:\n    Paquets : envoyés = 3, reçus = 0, perdus = 3 (perte 100%),\n"
JAPANESE = "\n10.244.2.5 に ping を送信しています 32 バイトのデータ:\n{line}\n\n10.244.2.5 の ping 統計:\n    パケット数: 送信 = 3、受信 = 0、損失 = 3 (100% の損失)、\n"
LOST = "\nPinging 10.244.2.5 with 32 bytes of data:\n{line}\n\nPing statistics for 10.244.2.5:\n    Packets: Sent = 3, Received = 0, Lost = 3 (100% loss),\n"


def pinged(text: str, *, elapsed: float = 0.1) -> Raw:
    """Return what ping printed, as it comes: with the line ends of Windows."""
    return raw(
        "ping",
        client_os="windows",
        command=COMMAND,
        stdout=text.replace("\n", "\r\n"),
        exit_code=1,
        elapsed=elapsed,
    )


@pytest.mark.parametrize(
    "line",
    [
        "Antwort von 10.244.2.5: Bytes=32 Zeit<1ms TTL=126",
        "Réponse de 10.244.2.5 : octets=32 temps=2 ms TTL=126",
        "Resposta de 10.244.2.5: bytes=32 tempo<1ms TTL=126",
        "Ответ от 10.244.2.5: число байт=32 время<1мс TTL=126",
        "来自 10.244.2.5 的回复: 字节=32 时间<1ms TTL=126",
        "回覆自 10.244.2.5: 位元組=32 time=5ms TTL=126",
        "10.244.2.5 からの応答: バイト数 =32 時間 =1ms TTL=126",
        "10.244.2.5의 응답: 바이트=32 시간<1ms TTL=126",
        "10.244.2.5 ��̊��: �o�C�g�� =32 ���� =1ms TTL=126",
    ],
)
@pytest.mark.parametrize("around", [GERMAN, FRENCH, JAPANESE], ids=["de", "fr", "ja"])
def test_an_echo_is_known_in_any_language(line: str, around: str) -> None:
    """An address, and ``TTL=`` behind a colon: even where the words came in another code page."""
    assert read_raw(pinged(around.format(line=line))).outcome is Outcome.REPLIED


@pytest.mark.parametrize(
    "line",
    [
        "Reply from 172.30.0.13: TTL expired in transit.",
        "Reply from 172.30.0.13: Destination port unreachable.",
        "Antwort von 172.30.0.13: Zielhost nicht erreichbar.",
        "Réponse de 172.30.0.13 : Impossible de joindre l’hôte de destination.",
        "来自 172.30.0.13 的回复: 无法访问目标主机。",
        "172.30.0.13 からの応答: 宛先ホストに到達できません。",
        "Reply from fe80::1%12: Destination host unreachable.",
        "Destination host unreachable.",
        "General failure.",
        "PING: transmit failed. General failure. ",
        "PING: transmit failed, error code 1231.",
        "PING: 传输失败，错误代码 1232。",
    ],
)
def test_an_answer_that_is_no_echo_means_unreachable(line: str) -> None:
    """Some machine says that the target was not reached, or the node says that it has no way to it."""
    attempt = read_raw(pinged(LOST.format(line=line)))
    assert attempt.outcome is Outcome.UNREACHABLE
    assert attempt.detail == line.strip()


@pytest.mark.parametrize(
    ("around", "line"),
    [
        (LOST, "Request timed out."),
        (GERMAN, "Zeitüberschreitung der Anforderung."),
        (FRENCH, "Délai d’attente de la demande dépassé."),
        (JAPANESE, "要求がタイムアウトしました。"),
    ],
)
def test_an_echo_that_is_waited_for_in_vain_is_known_by_its_words(around: str, line: str) -> None:
    """However long it took: the sentence is the tool's own."""
    attempt = read_raw(pinged(around.format(line=line)))
    assert (attempt.outcome, attempt.detail) == (Outcome.TIMED_OUT, line)


@pytest.mark.parametrize(
    ("elapsed", "outcome"), [(6.2, Outcome.TIMED_OUT), (2.1, Outcome.PROBE_FAILED)]
)
def test_an_unknown_sentence_is_a_time_out_if_all_echoes_were_waited_for(
    elapsed: float, outcome: Outcome
) -> None:
    """Three echoes of 2 s take 6 s; a failure of the node itself comes at once, and is not guessed."""
    answer = pinged(GERMAN.format(line="Anforderungen ohne Ergebnis.\n" * 3), elapsed=elapsed)
    assert read_raw(answer).outcome is outcome


@pytest.mark.parametrize(
    "line",
    [
        "PING: Fehler bei der Übertragung. Allgemeiner Fehler.",
        "PING: transmit failed, error code 1450.",
        "Reply from 10.244.9.9: bytes=32 time<1ms TTL=126",
    ],
)
def test_what_is_not_understood_is_kept(line: str) -> None:
    """Another machine's echo is none of the target's, and a failure of ping itself says nothing of the network."""
    answer = pinged(f"{line}\n")
    assert read_raw(answer).outcome is Outcome.PROBE_FAILED
    assert line in (not_read(answer) or "")


def test_head_and_statistics_are_no_answers() -> None:
    """They name the target, and nothing stands behind their colons."""
    assert not list(answers(LOST.format(line="")))
    assert not list(answers(FRENCH.format(line="")))
    assert not list(answers("\nPinging web.demo [fd00::3] with 32 bytes of data:\n"))
    assert not list(answers("\nPing statistics for fd00::3:\n"))
