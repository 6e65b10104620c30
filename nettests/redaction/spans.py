"""Find the secrets in a text, and replace them by a mark. Pure.

A text is searched in overlapping windows of bounded length, so that the cost is linear. All shapes
search the original text, and matches are hidden together. Of detect-secrets' plugins only those are
used whose expressions begin with a token's own letters. Left out are entropy, which takes UIDs,
hashes and HNS ids for secrets; keywords, which ``shapes`` knows from Kubernetes; addresses;
Artifactory, which takes words for passwords; Discord, Telegram, npm, OpenAI and JSON Web Tokens,
which are slow.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache

from nettests.redaction.names import NAMES
from nettests.redaction.shapes import LONGEST, SHAPES, Shape
from nettests.resources import lines_of

Span = tuple[int, int]
KEY_LINES = 60
"""How many lines are hidden after the beginning of a key without an end, and vice versa."""
# sample: -----BEGIN RSA PRIVATE KEY-----
_MARKER = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]{1,40}-----")
# samples: password: |, "  tls.key: >-", - token: |2 # comment
_FIELD = re.compile(
    rf"[ \t]{{0,200}}(?:-[ \t]{{1,20}})?[\"']?[\w./-]{{0,80}}?(?:{NAMES}|\.dockerconfigjson|\bauth|tls\.key)"
    r"[\"']?[ \t]{0,20}:[ \t]{0,20}(?P<literal>[|>][+-]?\d?[+-]?)?[ \t]{0,20}(?:#[^\n]{0,200})?\r?\n",
    re.IGNORECASE,
)
# samples: "  secretName: x", "- key: value": nested fields, not a value
_NESTED = re.compile(r"\s{0,200}(?:-[ \t]{1,20})?[\"']?[\w./-]{1,80}[\"']?[ \t]{0,20}:(?:\s|$)")
# samples: kind: Secret, "- kind: Secret"
_SEALED = re.compile(r"([ \t]{0,200}(?:-[ \t]{1,20})?)kind:[ \t]{1,20}Secret\s{0,20}")
_INSET = re.compile(r"[ \t-]{0,200}")
_DATA = re.compile(r"[ \t-]{0,200}(?:data|stringData):\s{0,20}")
# samples: "  a: aHVu", "    aHVu"; not "  a: |"
_VALUE = re.compile(
    r"[ \t]{0,200}(?:[\"']?[\w.-]{1,255}[\"']?:(?:\s{1,20}|$)(?![|>]))?(?=\S)(?![\w.-]{1,255}:\s)"
)
# samples: "kind":"Secret", \"stringData\":{\"a\":\"x\"}
_MEMBERS = re.compile(
    r"\\{0,7}\"(?:(kind)\\{0,7}\"[ ]?:[ ]?\\{0,7}\"Secret\\{0,7}\"|(?:data|stringData)\\{0,7}\"[ ]?:[ ]?\{([^{}]{1,65536})\})"
)
NEAR = 4096
"""The distance within which an object in a text may say that it is a Secret."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def keys(text: str) -> Iterator[Span]:
    """Yield PEM blocks, complete or truncated."""
    begun: int | None = None
    ended = 0
    for marker in _MARKER.finditer(text):
        if marker[1] == "BEGIN":
            if begun is not None:
                yield begun, _after(text, begun, marker.start())
            begun = marker.start()
        else:
            yield (_before(text, ended, marker.start()) if begun is None else begun), marker.end()
            begun, ended = None, marker.end()
    if begun is not None:
        yield begun, _after(text, begun, len(text))


def yaml_blocks(text: str) -> Iterator[Span]:
    """Yield the lines below a field with a secret's name, if they are its value."""
    held: int | None = None  # the indentation of the field
    literal = False
    for line in _LINE.finditer(text):
        start, end = line.span()
        if held is not None and line[0].strip():
            depth = _depth(line[0])
            if depth > held and (literal or not _NESTED.match(text, start, end)):
                yield start + depth, start + len(line[0].rstrip())
                continue
            held = None
        if field := _FIELD.fullmatch(text, start, end):
            held, literal = _depth(line[0]), field["literal"] is not None


def manifests(text: str) -> Iterator[Span]:
    """Yield the content of Secrets in YAML."""
    lines, done = list(_LINE.finditer(text)), 0
    for number, line in enumerate(lines):
        mark = _SEALED.fullmatch(line[0]) if number >= done else None
        if mark is None:
            continue
        depth, within = len(mark[1]), False
        first = next((up for up in range(number, done, -1) if _outside(lines[up], depth)), done)
        after = range(number + 1, len(lines))
        done = next((down for down in after if _outside(lines[down], depth)), len(lines))
        for member in (member for member in lines[first:done] if member[0].strip()):
            if len(_INSET.match(member[0])[0]) <= depth:  # type: ignore[index]
                within = _DATA.fullmatch(member[0]) is not None
            elif within and (value := _VALUE.match(member[0])):
                yield member.start() + value.end(), member.start() + len(member[0].rstrip())


def members(text: str) -> Iterator[Span]:
    """Yield the content of Secrets in JSON within a text."""
    marks = list(_MEMBERS.finditer(text))
    kinds = [member.start() for member in marks if member[1]]
    for member in marks:
        near = bisect_left(kinds, member.start() - NEAR)
        if member[2] and near < len(kinds) and kinds[near] < member.end() + NEAR:
            yield member.span(2)


def _outside(line: re.Match[str], depth: int) -> bool:
    """Whether a line begins an object at that depth, or is above it."""
    return line[0].startswith("---") or (bool(line[0].strip()) and _depth(line[0]) < depth)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _after(text: str, start: int, limit: int) -> int:
    end = start
    for _ in range(KEY_LINES):
        end = text.find("\n", end, limit) + 1
        if end == 0:
            return limit
    return end


def _before(text: str, floor: int, end: int) -> int:
    start = end
    for _ in range(KEY_LINES):
        start = text.rfind("\n", floor, start)
        if start < 0:
            return floor
    return start


REDACTED = "[redacted]"
STEP = 8192
OVERLAP = 2048
"""A shorter secret, with its name, is complete in some window."""
_WORD = re.compile(r"[^\s\"']+")


def redact(text: str) -> str:
    """Return a text without what looks like a secret."""
    spans = sorted(_secret_spans(text))
    if not spans:
        return text
    kept: list[str] = []
    end = 0
    for start, stop in spans:
        if start > end or not kept:
            kept += [text[end:start], REDACTED]
        end = max(end, stop)
    return "".join([*kept, text[end:]])


def _secret_spans(text: str) -> Iterator[Span]:
    small = text.lower()
    shapes, hints = _shapes()
    if "-----" in small:
        yield from keys(text)
    if "\n" in small and ":" in small:
        yield from yaml_blocks(text)
    if "kind" in small and "secret" in small:
        yield from manifests(text)
        yield from members(text)
    there = {hint for hint in hints if hint in small}
    yield from _by_shape(text, [shape for shape in shapes if not there.isdisjoint(shape.hints)])


@cache
def _shapes() -> tuple[tuple[Shape, ...], frozenset[str]]:
    kept = (
        Shape(name=name, pattern=pattern, hints=hints) for name, hints, pattern in expressions()
    )
    shapes = (*SHAPES, *kept)
    return shapes, frozenset(hint for shape in shapes for hint in shape.hints)


def _by_shape(text: str, shapes: Iterable[Shape]) -> Iterator[Span]:
    length, listed, word_end = len(text), tuple(shapes), 0
    for begin in range(0, length, STEP):
        end = min(begin + STEP + OVERLAP, length)
        for shape in listed:
            for match in shape.pattern.finditer(text, begin, end):
                if match.start() >= begin + STEP:
                    break  # the next window has all of it
                for start, stop in _hidden(shape, match):
                    cut = stop == end < length or stop - start >= LONGEST
                    if cut and stop > word_end:
                        rest = _WORD.match(text, stop)
                        word_end = rest.end() if rest else stop
                    yield start, max(stop, word_end) if cut else stop
        if end == length:
            return


def _hidden(shape: Shape, match: re.Match[str]) -> Iterator[Span]:
    """Yield the secret parts of a match: its groups ``s…``, or all of it."""
    groups = [name for name, value in match.groupdict().items() if name[0] == "s" and value]
    for span in [match.span(group) for group in groups] or [match.span()]:
        secret = match.string[slice(*span)]
        if secret != REDACTED and (shape.confirmed is None or shape.confirmed(secret)):
            yield span


_HINTS = {
    plugin: tuple(hints)
    for plugin, *hints in map(str.split, lines_of("nettests.redaction", "scanner_hints.txt"))
}
"""What a text must contain, in lower case, for a plugin to find anything."""


@cache
def expressions() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    """Return each expression with name and hints; the import takes half a second, so it is late."""
    from detect_secrets.plugins import (  # noqa: PLC0415
        aws,
        azure_storage_key,
        github_token,
        gitlab_token,
        mailchimp,
        pypi_token,
        sendgrid,
        slack,
        square_oauth,
        stripe,
        twilio,
    )

    plugins = {
        "aws": aws.AWSKeyDetector,
        "azure_storage_key": azure_storage_key.AzureStorageKeyDetector,
        "github_token": github_token.GitHubTokenDetector,
        "gitlab_token": gitlab_token.GitLabTokenDetector,
        "mailchimp": mailchimp.MailchimpDetector,
        "pypi_token": pypi_token.PypiTokenDetector,
        "sendgrid": sendgrid.SendGridDetector,
        "slack": slack.SlackDetector,
        "square_oauth": square_oauth.SquareOAuthDetector,
        "stripe": stripe.StripeDetector,
        "twilio": twilio.TwilioKeyDetector,
    }
    return tuple(
        (name, _HINTS[name], expression)
        for name, plugin in plugins.items()
        for expression in plugin.denylist
    )
