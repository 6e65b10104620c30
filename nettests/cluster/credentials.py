"""The credentials of a kubeconfig's user: read, trimmed, validated and registered as secrets in one place.

``kubeconfig`` calls this before the client library sees the user, which then has a plain token, a password or paths
of certificates only. What client-go honours is honoured or refused here: ``tokenFile`` before ``token``, both trimmed
(client-go, ``transport/token_source.go``), exec plugins, impersonation (``transport/round_trippers.go``). Errors
never hold the credential.
"""

import base64
import binascii
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from nettests.cluster.exec_plugin import Plugin
from nettests.errors import ClusterError
from nettests.redaction import register

Header = tuple[str, str]

_EMBEDDED = ("client-certificate", "client-key", "certificate-authority")
_REMOVED = {"gcp": "gke-gcloud-auth-plugin", "azure": "kubelogin"}
"""Auth providers that client-go removed in 1.26, and the exec plugins that replaced them."""
_IN_MEMORY: dict[bytes, str] = {}
"""The path of each certificate and key that a kubeconfig embeds; a file in memory ends with the process, also by kill -9."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """What the client library gets: the user and cluster entries without what it reads otherwise than kubectl."""

    user: dict[str, Any]
    cluster: dict[str, Any]
    impersonation: tuple[Header, ...]
    """Headers that act as somebody else; a name may occur more than once."""


def prepared(user: Mapping[str, Any], cluster: Mapping[str, Any], folder: Path) -> User:
    """Read the credentials of a user; relative paths begin at ``folder``, the kubeconfig's.

    ``ClusterError`` names what cannot be used.
    """
    _register_address(cluster.get("server"), cluster.get("proxy-url"))
    register(user.get("client-key-data"), user.get("password"), _basic(user))
    plain = {**user}
    impersonation = tuple(_impersonation(plain))
    provider = (plain.get("auth-provider") or {}).get("name")
    if provider in _REMOVED:
        raise ClusterError(
            f"the kubeconfig's auth-provider {provider} was removed from Kubernetes' clients in 1.26",
            hint=f"get a kubeconfig that uses {_REMOVED[provider]}",
        )
    file = plain.pop("tokenFile", None)
    if file:
        plain["token"] = _token_of(folder / str(file))
    token = plain.get("token")
    if token:
        plain["token"] = _header_value(str(token), "the token")
    elif plain.get("exec") and "auth-provider" not in plain:
        plain |= _of_plugin(Plugin.of(plain["exec"], cluster, folder))
    plain.pop("exec", None)
    register(plain.get("token"))
    return User(user=_in_files(plain), cluster=_in_files({**cluster}), impersonation=impersonation)


def _of_plugin(plugin: Plugin) -> dict[str, Any]:
    status = plugin.credentials()
    if token := status.get("token"):
        return {"token": _header_value(str(token), f"the token of the helper {plugin.name!r}")}
    certificate, key = str(status["clientCertificateData"]), str(status["clientKeyData"])
    register(key)
    return {
        "client-certificate-data": base64.b64encode(certificate.encode()).decode(),
        "client-key-data": base64.b64encode(key.encode()).decode(),
    }


def _token_of(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ClusterError(
            f"the token file {file} of the kubeconfig cannot be read: {reason}",
            hint="does the program that renews it still run?",
        ) from error


def _header_value(text: str, what: str) -> str:
    """Return a text that fits an HTTP header, without the blanks and line feeds around it."""
    trimmed = text.strip()
    if not trimmed:
        raise ClusterError(f"{what} in the kubeconfig is empty", hint="log in again")
    if not trimmed.isascii() or not trimmed.isprintable():
        raise ClusterError(
            f"{what} in the kubeconfig holds a control character or a letter outside ASCII, "
            "which no HTTP header carries",
            hint="was the file written by the program that gives the token, and as a whole?",
        )
    return trimmed


def _basic(user: Mapping[str, Any]) -> str | None:
    pair = f"{user.get('username')}:{user.get('password')}"
    return base64.b64encode(pair.encode()).decode() if user.get("password") else None


def _register_address(*addresses: object) -> None:
    for address in addresses:
        try:
            register(urlsplit(str(address or "")).password)
        except ValueError:
            continue  # an address that cannot be parsed is refused by the client


def _impersonation(user: dict[str, Any]) -> Iterator[Header]:
    """Yield the headers of ``as`` and its companions, and take them out of the user."""
    name, uid = user.pop("as", None), user.pop("as-uid", None)
    groups, extra = user.pop("as-groups", None) or (), user.pop("as-user-extra", None) or {}
    if (uid or groups or extra) and not name:
        raise ClusterError(
            "the kubeconfig's user has as-uid, as-groups or as-user-extra without as",
            hint="kubectl refuses this too: name the user to impersonate, or remove them",
        )
    if name:
        yield "Impersonate-User", _plain(name)
    if uid:
        yield "Impersonate-Uid", _plain(uid)
    for group in groups:
        yield "Impersonate-Group", _plain(group)
    for key, values in extra.items():
        for value in values:
            escaped = quote(str(key), safe="!#$&'*+-.^_`|~")
            yield f"Impersonate-Extra-{escaped}", _plain(value)


def _plain(value: object) -> str:
    text = str(value)
    if not text.isascii() or not text.isprintable():
        raise ClusterError(
            "a name to impersonate in the kubeconfig holds a character that no HTTP header carries",
            hint="see as, as-groups, as-uid and as-user-extra of its user",
        )
    return text


def _in_files(entry: dict[str, Any]) -> dict[str, Any]:
    """Replace embedded certificates and keys by paths of files in memory, which nothing else can open.

    Where the system has no such files (Windows, macOS) the client library writes temporary ones.
    """
    if not hasattr(os, "memfd_create"):
        return entry
    for name in _EMBEDDED:
        data = entry.pop(f"{name}-data", None)
        if not data:
            continue
        try:
            content = base64.b64decode(str(data), validate=False)
        except (binascii.Error, ValueError) as error:
            raise ClusterError(
                f"{name}-data of the kubeconfig is not base64", hint="copy the kubeconfig again"
            ) from error
        entry[name] = _in_memory(content)
    return entry


def _in_memory(content: bytes) -> str:
    if content not in _IN_MEMORY:
        descriptor = os.memfd_create("nettests")
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(content)
        _IN_MEMORY[content] = f"/proc/self/fd/{descriptor}"
    return _IN_MEMORY[content]
