"""The secrets that this process holds: registered where they are read, removed wherever a text leaves the process.

``cluster.credentials`` and readers of webhook and proxy addresses register; ``terminal``, the writers of files and
every ``Redactor`` remove. Secrets that others hold have no register: ``shapes`` recognises them.
"""

import base64
import json
import threading
from functools import lru_cache
from urllib.parse import quote

from nettests.redaction.spans import REDACTED

FEWEST = 4
"""A shorter text is not registered: it would remove plain words everywhere."""

_lock = threading.Lock()
_held: tuple[str, ...] = ()


def register(*secrets: str | None) -> None:
    """Add secrets for the rest of the process; those that are empty or shorter than ``FEWEST`` are ignored."""
    global _held  # noqa: PLW0603 - one register for the process is its purpose
    with _lock:
        new = (secret for secret in secrets if secret and len(secret) >= FEWEST)
        _held = tuple(dict.fromkeys((*_held, *new)))


def forget() -> None:
    """Empty the register: a test's secrets are no words of the next one."""
    global _held  # noqa: PLW0603 - see above
    _held = ()


def without_held(text: str, more: tuple[str, ...] = ()) -> str:
    """Return the text without registered secrets and ``more``: as they are, in JSON, in an address, in base64."""
    for form in _forms((*more, *_held)):
        if form in text:
            text = text.replace(form, REDACTED)
    return text


@lru_cache(maxsize=64)
def _forms(secrets: tuple[str, ...]) -> tuple[str, ...]:
    forms = [
        form
        for secret in secrets
        if len(secret) >= FEWEST
        for form in (
            secret,
            json.dumps(secret)[1:-1],
            quote(secret, safe=""),
            base64.b64encode(secret.encode()).decode(),
        )
    ]
    return tuple(sorted(dict.fromkeys(forms), key=len, reverse=True))
