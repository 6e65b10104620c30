"""Go's texts: durations, numbers, JSON, flags, content types."""

import pytest

from nettests.lab.programs.golang import requests, values, web_client
from nettests.lab.programs.golang.requests import Request
from nettests.lab.programs.golang.values import Flags, UsageError, parse
from nettests.lab.programs.golang.web_client import NetError

FLAGS: Flags = {
    "close": False,
    "port": 80,
    "timeout": 0.0,
    "name": "",
}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5s", 5), ("1m30s", 90), ("1.5h", 5400), ("-2ms", -0.002), ("0", 0), ("700ms", 0.7)],
)
def test_a_duration_is_read_as_go_reads_it(text: str, seconds: float) -> None:
    """Units add up; a sign and fractions are allowed."""
    assert values.parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["abc", "5", "5 s", "s", ""])
def test_what_is_no_duration_is_refused_in_gos_words(text: str) -> None:
    """A number without a unit is not a duration."""
    with pytest.raises(values.SyntaxOfValueError, match="time: invalid duration"):
        values.parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (1, "1s"), (1.5, "1.5s"), (60, "1m0s"), (0.25, "250ms"), (3661, "1h1m1s")],
)
def test_a_duration_is_printed_as_go_prints_it(seconds: float, text: str) -> None:
    """Units from hours down to milliseconds."""
    assert values.format_duration(seconds) == text


def test_json_escapes_what_html_would_read() -> None:
    """Keys are sorted; ``<``, ``>`` and ``&`` are escaped, other text is not."""
    assert values.to_json({"b": ["<é&>"], "a": []}) == '{"a":[],"b":["\\u003cé\\u0026\\u003e"]}'


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--nosuch"], "unknown flag: --nosuch"),
        (["--port"], "flag needs an argument: --port"),
        (["-x"], "unknown shorthand flag: 'x' in -x"),
        (
            ["--port=a"],
            'invalid argument "a" for "--port" flag: strconv.ParseInt: parsing "a": invalid syntax',
        ),
        (
            ["--close=maybe"],
            (
                'invalid argument "maybe" for "--close" flag: '
                'strconv.ParseBool: parsing "maybe": invalid syntax'
            ),
        ),
    ],
)
def test_a_bad_flag_is_refused_in_cobras_words(words: list[str], text: str) -> None:
    """The error names flag and value."""
    with pytest.raises(UsageError) as refused:
        parse(FLAGS, words)
    assert str(refused.value) == text


def test_flags_are_read_in_every_form() -> None:
    """``--flag=value``, ``--flag value``, a bare switch, and arguments in between."""
    found = parse(FLAGS, ["a", "--port=1", "--timeout", "2s", "--close", "-v=2", "--", "--name"])
    assert found.arguments == ("a", "--name")
    assert (found["port"], found["timeout"], found["close"]) == (1, 2, True)
    assert found["name"] == ""


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"hello", requests.PLAIN),
        (b"  <html>", requests.HTML),
        (b"<a href=x>", requests.HTML),
        (b"<abc>", requests.PLAIN),
        (b"<?xml version='1.0'?>", "text/xml; charset=utf-8"),
        (b"\x00\x01", "application/octet-stream"),
        (b"", requests.PLAIN),
    ],
)
def test_a_body_is_sniffed(body: bytes, kind: str) -> None:
    """The type of a body without one."""
    assert requests.detect(body) == kind


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("10.0.0.1", "address 10.0.0.1: missing port in address"),
        ("::1:80:", "address ::1:80:: too many colons in address"),
    ],
)
def test_an_address_that_is_none_is_refused(text: str, error: str) -> None:
    """Go's texts for host and port."""
    with pytest.raises(NetError) as refused:
        web_client.split(text)
    assert refused.value.text == error


@pytest.mark.parametrize(
    ("target", "clean"),
    [
        ("/hostname", None),
        ("/", None),
        ("/a/", None),
        ("//hostname", "/hostname"),
        ("/./hostname?x=1", "/hostname?x=1"),
        ("/a/../b/", "/b/"),
        ("*", None),
    ],
)
def test_only_an_unclean_path_is_redirected(target: str, clean: str | None) -> None:
    """The path Go's mux redirects to."""
    assert requests.cleaned(Request(method="GET", target=target, remote="")) == clean


def test_a_posted_value_comes_before_one_in_the_query() -> None:
    """Form values of a body win."""
    request = Request(
        method="POST",
        target="/echo?msg=query",
        remote="",
        headers=(("Content-Type", "application/x-www-form-urlencoded"),),
        body=b"msg=body",
    )
    assert request.form("msg") == "body"
