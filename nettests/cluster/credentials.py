"""The credentials of a kubeconfig's user: read, trimmed, validated and registered as secrets.

``kubeconfig`` calls this before the client library sees the user. What client-go supports is
supported or refused: ``tokenFile`` before ``token`` unless the file is empty or unreadable, both
trimmed (``transport/token_source.go``), impersonation (``transport/round_trippers.go``), exec
plugins (``client.authentication.k8s.io``). A plugin that is missing or fails, the most frequent
first mistake on AKS, EKS and GKE, is reported with name, exit code and message. Errors contain no
credentials, and no token is cached.
"""

import base64
import binascii
import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from urllib.parse import quote, urlsplit

from nettests import terminal
from nettests.errors import ClusterError
from nettests.outside_files import read_text
from nettests.redaction import Redactor, register

MESSAGE_CHARACTERS = 600
"""How much of a plugin's message an error repeats; the middle of a longer one is cut."""
ANSWER_BYTES = 1 << 20
INSTALLED_BY = {
    "kubelogin": "az aks install-cli (https://azure.github.io/kubelogin)",
    "aws": "the AWS CLI (https://docs.aws.amazon.com/cli), version 1.16.156 or later",
    "aws-iam-authenticator": "https://github.com/kubernetes-sigs/aws-iam-authenticator",
    "gke-gcloud-auth-plugin": "gcloud components install gke-gcloud-auth-plugin",
    "oc": "the OpenShift CLI (oc)",
}
"""What installs managed clusters' plugins (their documentation); ``installHint`` comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """The ``exec`` entry of a kubeconfig's user; ``folder`` is the base of relative commands."""

    command: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str]
    api_version: str
    install_hint: str
    cluster: Mapping[str, Any] | None
    """The cluster entry, if ``provideClusterInfo`` is set."""
    folder: Path

    @classmethod
    def of(cls, entry: Mapping[str, Any], cluster: Mapping[str, Any], folder: Path) -> "Plugin":
        """Read an entry; ``KeyError`` or ``TypeError`` if it is malformed."""
        return cls(
            command=str(entry["command"]),
            arguments=tuple(map(str, entry.get("args") or ())),
            variables={str(item["name"]): str(item["value"]) for item in entry.get("env") or ()},
            api_version=str(entry["apiVersion"]),
            install_hint=" ".join(str(entry.get("installHint") or "").split()),
            cluster=cluster if entry.get("provideClusterInfo") else None,
            folder=folder,
        )

    @property
    def name(self) -> str:
        """The program's name without its folder."""
        return Path(self.command).name

    def credentials(self) -> Mapping[str, Any]:
        """Run it and return its ``status``: a token, or a client certificate with its key."""
        code, answer, message = self._run()
        if code:
            reason = _shortened(message) or "it printed no message"
            raise self._failed(
                f"ended with exit code {code}: {reason}",
                f"run `{self.name} --help` or log in again as its documentation says; "
                f"`kubectl get --raw /version` has to work first",
            )
        try:
            read = json.loads(answer)
            status: Mapping[str, Any] = read["status"]
            given = status.get("token") or (
                status["clientCertificateData"] and status["clientKeyData"]
            )
            version = read["apiVersion"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._failed(
                "printed no ExecCredential with a token or a client certificate",
                f"it has to answer in {self.api_version}: is it of the version that the kubeconfig was written for?",
            ) from error
        if version != self.api_version or not given:
            raise self._failed(
                f"answered in {version!r}, and the kubeconfig says {self.api_version!r}",
                "write the kubeconfig again with the tool that installed the helper",
            )
        return status

    def _run(self) -> tuple[int, str, str]:
        """Return exit code, answer and message; an interactive user sees the message at once."""
        interactive = sys.stdin is not None and sys.stdin.isatty()
        relative = os.sep in self.command and not Path(self.command).is_absolute()
        command = str(self.folder / self.command) if relative else self.command
        info = self._info(interactive=interactive)
        with TemporaryFile("w+", errors="replace") as answer:
            try:
                process = subprocess.Popen(
                    [command, *self.arguments],
                    stdin=None if interactive else subprocess.DEVNULL,
                    stdout=answer,
                    stderr=subprocess.PIPE,
                    env={**os.environ, **self.variables, "KUBERNETES_EXEC_INFO": info},
                    text=True,
                    errors="replace",
                )
            except OSError as error:
                hint = self.install_hint or INSTALLED_BY.get(self.name, "")
                raise self._failed(
                    f"cannot be started: {error.strerror}",
                    f"install it: {hint}" if hint else "install it, and see that it is on the PATH",
                ) from error
            with process:
                # A plugin may print a log-in address that has to be seen at once.
                last: deque[str] = deque(maxlen=100)
                for text in process.stderr or ():
                    last.append(text)
                    if interactive:
                        terminal.line(Redactor().text(text.rstrip("\n")), err=True)
                message = "".join(last)
            answer.seek(0)
            return process.returncode, answer.read(ANSWER_BYTES), message

    def _info(self, *, interactive: bool) -> str:
        spec: dict[str, Any] = {"interactive": interactive}
        if self.cluster is not None:
            spec["cluster"] = {
                key: value for key, value in self.cluster.items() if key != "extensions"
            }
            for extension in self.cluster.get("extensions") or ():
                if extension.get("name") == "client.authentication.k8s.io/exec":
                    spec["cluster"]["config"] = extension.get("extension")
        return json.dumps({"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec})

    def _failed(self, what: str, hint: str) -> ClusterError:
        return ClusterError(
            f"the helper {self.name!r}, which the kubeconfig calls for credentials, {what}",
            hint=hint,
        )


def _shortened(message: str) -> str:
    words = " ".join(Redactor().text(message).split())
    half = MESSAGE_CHARACTERS // 2
    return words if len(words) <= 2 * half else f"{words[:half]} … {words[-half:]}"


Header = tuple[str, str]

_EMBEDDED = ("client-certificate", "client-key", "certificate-authority")
_REMOVED = {"gcp": "gke-gcloud-auth-plugin", "azure": "kubelogin"}
"""Auth providers that client-go removed in 1.26, and the exec plugins that replaced them."""
_IN_MEMORY: dict[bytes, str] = {}
"""The path of each embedded certificate and key; a file in memory ends with the process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """The user and cluster entries, without what the client library reads unlike kubectl."""

    user: dict[str, Any]
    cluster: dict[str, Any]
    impersonation: tuple[Header, ...]
    """Impersonation headers; a name may occur more than once."""


def prepared(user: Mapping[str, Any], cluster: Mapping[str, Any], folder: Path) -> User:
    """Read the credentials of a user; relative paths begin at ``folder``, the kubeconfig's.

    ``ClusterError`` for what cannot be used.
    """
    _register_address(cluster.get("server"), cluster.get("proxy-url"))
    pair = f"{user.get('username')}:{user.get('password')}" if user.get("password") else ""
    register(user.get("client-key-data"), user.get("password"))
    register(base64.b64encode(pair.encode()).decode())
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
        plain["token"] = _token_of(folder / str(file), str(plain.get("token") or ""))
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


def _token_of(file: Path, otherwise: str) -> str:
    """Return the file's token, or the kubeconfig's own where the file has none, as client-go does."""
    try:
        text = read_text(file)
        return text if text.strip() else otherwise or text
    except (OSError, UnicodeDecodeError) as error:
        if otherwise:
            return otherwise
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ClusterError(
            f"the token file {file} of the kubeconfig cannot be read: {reason}",
            hint="does the program that renews it still run?",
        ) from error


def _header_value(text: str, what: str) -> str:
    """Return a text that fits into an HTTP header, trimmed."""
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


def _register_address(*addresses: object) -> None:
    for address in addresses:
        try:
            register(urlsplit(str(address or "")).password)
        except ValueError:
            continue  # the client refuses an address that cannot be parsed


def _impersonation(user: dict[str, Any]) -> Iterator[Header]:
    """Yield the headers of ``as`` and its companions, and remove these from the user."""
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
    """Replace embedded certificates and keys by paths of in-memory files of this process.

    Without such files (Windows, macOS), the client library writes temporary files.
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
        if content not in _IN_MEMORY:
            descriptor = os.memfd_create("nettests")
            with os.fdopen(os.dup(descriptor), "wb") as file:
                file.write(content)
            _IN_MEMORY[content] = f"/proc/self/fd/{descriptor}"
        entry[name] = _IN_MEMORY[content]
    return entry
