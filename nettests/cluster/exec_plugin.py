"""Run a kubeconfig's exec plugin (kubelogin, aws, gke-gcloud-auth-plugin …) and return the credentials that it gives.

Called by ``credentials``. A plugin that is missing or fails ends the command with its name, exit code and message:
the most frequent first mistake on AKS, EKS and GKE. Protocol: Kubernetes documentation, Authenticating,
"client-go credential plugins" (``client.authentication.k8s.io``). Tokens are not cached here.
"""

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from nettests import terminal
from nettests.errors import ClusterError
from nettests.redaction import Redactor

MESSAGE_CHARACTERS = 600
"""How much of a plugin's own message an error repeats; more is cut in its middle."""
ANSWER_BYTES = 1 << 20
INSTALLED_BY = {
    "kubelogin": "az aks install-cli (https://azure.github.io/kubelogin)",
    "aws": "the AWS CLI (https://docs.aws.amazon.com/cli), version 1.16.156 or later",
    "aws-iam-authenticator": "https://github.com/kubernetes-sigs/aws-iam-authenticator",
    "gke-gcloud-auth-plugin": "gcloud components install gke-gcloud-auth-plugin",
    "oc": "the OpenShift CLI (oc)",
}
"""What installs the plugins of managed clusters, by their documentation; a kubeconfig's ``installHint`` comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """The ``exec`` entry of a kubeconfig's user; ``folder`` is where relative commands are looked for."""

    command: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str]
    api_version: str
    install_hint: str
    cluster: Mapping[str, Any] | None
    """The cluster entry, where ``provideClusterInfo`` wants it to be passed."""
    folder: Path

    @classmethod
    def of(cls, entry: Mapping[str, Any], cluster: Mapping[str, Any], folder: Path) -> "Plugin":
        """Read an entry; ``KeyError``, ``TypeError`` where it has not the form of one."""
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
        """Run it and return ``status`` of its answer: a token, or a client certificate with its key."""
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
        """Return exit code, answer and message; a person who has to act on the message sees it at once."""
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
                message = "".join(_relayed(process.stderr or (), show=interactive))
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


def _relayed(lines: Iterable[str], *, show: bool) -> deque[str]:
    """Return the last lines of a plugin's message, and show all, such as the address of a page to log in."""
    last: deque[str] = deque(maxlen=100)
    for text in lines:
        last.append(text)
        if show:
            terminal.line(Redactor().text(text.rstrip("\n")), err=True)
    return last


def _shortened(message: str) -> str:
    words = " ".join(Redactor().text(message).split())
    half = MESSAGE_CHARACTERS // 2
    return words if len(words) <= 2 * half else f"{words[:half]} … {words[-half:]}"
