"""Take secrets out of what is collected: by the names of fields, and by the shape of texts. Pure.

Rather too much than too little: a diagnosis that hides a harmless word is still one, a leaked token is not.
Fields come first, because an object knows what its values are; texts second, as a net below. A text is
redacted whole before it is cut: half a key has no shape any more.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

REDACTED = "[redacted]"

_NAMES = (
    r"pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|authorization|cookie"
    r"|api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key|account[_-]?key|shared[_-]?key"
    r"|client[_-]?key(?:[_-]?data)?|client[_-]?certificate[_-]?data|connection[_-]?string"
)
# samples: password, client-key-data, secretAccessKey, bearerToken, vault.test/token
_FIELD = re.compile(rf"(?:^|.*[^A-Za-z0-9]|.*[a-z](?=[A-Z]))(?:{_NAMES})$", re.IGNORECASE)
# samples: DB_PASSWORD, AWS_SECRET_ACCESS_KEY, GITHUB_TOKEN_RO, BASIC_AUTH, SSH_KEY
_VARIABLE = re.compile(
    rf"{_NAMES}|(?:^|[_-])(?:auth|key|sas|dsn|jwt)(?:$|[_-])|kubeconfig", re.IGNORECASE
)
_HARMLESS_VARIABLES = frozenset({"PWD", "OLDPWD"})
# samples: --token, -password, --client-key-data
_FLAG = re.compile(rf"--?(?:[\w-]*-)?(?:{_NAMES})$", re.IGNORECASE)
_ANNOTATIONS = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})
"""Annotations that repeat the whole object, secrets included."""

_TEXTS: tuple[tuple[re.Pattern[str], str], ...] = (
    # samples: -----BEGIN RSA PRIVATE KEY----- … -----END RSA PRIVATE KEY-----, in logs with a time before
    # each line; cut off at its end, and cut off at its beginning
    (
        re.compile(
            r"-----BEGIN [A-Z0-9 ]+-----"
            r"(?:[\s\S]{0,20000}?-----END [A-Z0-9 ]+-----|(?:[^\n]*(?:\n|\Z)){1,60})"
        ),
        REDACTED,
    ),
    (re.compile(r"\A(?:(?!-----BEGIN)[\s\S])*?-----END [A-Z0-9 ]+-----"), REDACTED),
    # sample: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t…, the base64 of "-----BEGIN"
    (re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]+"), REDACTED),
    # sample: eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln
    (re.compile(r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)?"), REDACTED),
    # samples: Authorization: Basic dXNlcjpwdw==, "Proxy-Authorization":["Bearer x"], Set-Cookie: sid=1
    (
        re.compile(
            r"""((?:proxy-)?authorization|(?:set-)?cookie|x-[a-z-]*(?:token|key))(["']?[ \t]*[:=][ \t]*)(?!\[redacted\])[^\r\n]+""",
            re.IGNORECASE,
        ),
        rf"\1\2{REDACTED}",
    ),
    # sample: Bearer abc.def-123
    (
        re.compile(r"\b(bearer)\s+(?!token\b)[A-Za-z0-9._~+/=-]{6,}", re.IGNORECASE),
        rf"\1 {REDACTED}",
    ),
    # samples: http://user:pw@proxy:3128, https://token@github.com/x
    (re.compile(r"\b([a-z][a-z0-9+.-]*://)[^\s/@\"'<>]+@", re.IGNORECASE), rf"\1{REDACTED}@"),
    # samples: password=hunter2, "token": "abc", --client-secret=x, ?sig=a%2Fb, DB_PASSWORD: x
    (
        re.compile(
            rf"""((?<![A-Za-z])[\w.-]*(?:{_NAMES})|(?<=[?&])sig)(["']?[ \t]*[=:][ \t]*)(?!\[redacted\]|(?:true|false|null)\b)("[^"\r\n]*"|'[^'\r\n]*'|[^\s"',;&}}\]]+)""",
            re.IGNORECASE,
        ),
        rf"\1\2{REDACTED}",
    ),
    # sample: --token abc
    (
        re.compile(rf"(--(?:[\w-]*-)?(?:{_NAMES}))[ \t]+(?!-)[^\s\"']+", re.IGNORECASE),
        rf"\1 {REDACTED}",
    ),
    # sample: 07401b.f395accd246ae52d, a bootstrap token (kubeadm); not the name of an event
    (re.compile(r"(?<![\w.-])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w.-])"), REDACTED),
    # samples: AKIAIOSFODNN7EXAMPLE, ghp_…
    (re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}"), REDACTED),
)


@dataclass(frozen=True, slots=True)
class Redactor:
    """Takes secrets out; ``known`` are some that the harness itself holds, wherever they turn up."""

    known: tuple[str, ...] = ()

    def text(self, text: str) -> str:
        """Return a text without what looks like a secret."""
        for secret in self.known:
            text = text.replace(secret, REDACTED)
        for pattern, replacement in _TEXTS:
            text = pattern.sub(replacement, text)
        return text

    def value(self, value: Any) -> Any:
        """Return plain data, such as an API object, without secrets."""
        if isinstance(value, Mapping):
            return self._fields(value)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Sequence):
            return self._items(value)
        return value

    def _fields(self, found: Mapping[Any, Any]) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        variable = isinstance(found.get("name"), str) and "value" in found
        for key, value in found.items():
            if key == "managedFields":
                continue  # who wrote which field: long, and nothing about the network
            scalar = isinstance(value, str)
            hidden = key in _ANNOTATIONS
            hidden |= scalar and bool(value) and _FIELD.match(str(key)) is not None
            hidden |= variable and key == "value" and scalar and _secret(found["name"])
            kept[str(key)] = REDACTED if hidden else self.value(value)
        return kept

    def _items(self, found: Iterable[Any]) -> list[Any]:
        kept: list[Any] = []
        for item in found:
            after_flag = bool(kept) and isinstance(kept[-1], str) and _FLAG.fullmatch(kept[-1])
            hidden = after_flag and isinstance(item, str) and not item.startswith("-")
            kept.append(REDACTED if hidden else self.value(item))
        return kept


def _secret(variable: str) -> bool:
    return variable not in _HARMLESS_VARIABLES and bool(_VARIABLE.search(variable))
