"""Choose a kubeconfig and context (in a Pod: its ServiceAccount), and report mistakes in them.

The first step of ``connect``; only reads files. In a Pod the address comes from the environment,
token and authority from the folder that the kubelet mounts.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import yaml
from kubernetes import client
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.incluster_config import InClusterConfigLoader
from kubernetes.config.kube_config import ConfigNode, KubeConfigLoader, KubeConfigMerger

from nettests.cluster.credentials import Header, prepared
from nettests.errors import ClusterError
from nettests.model import limits
from nettests.model.limits import TooMuchError
from nettests.model.nearest import nearest
from nettests.model.yaml_text import bound_yaml
from nettests.outside_files import OutsideFileError, read_bytes
from nettests.redaction import register


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The kubeconfig file, the context in it, and the client configuration from them.

    Without a file it is the ServiceAccount of this process's Pod.
    """

    file: str
    context: str
    configuration: client.Configuration
    impersonation: tuple[Header, ...] = ()
    """Impersonation headers."""

    def anew(self) -> client.Configuration:
        """Read the configuration again: its token may have changed."""
        return choose(Path(self.file) if self.file else None, self.context).configuration


IN_CLUSTER = "in-cluster"
"""The context's name for a Pod's ServiceAccount."""


def choose(kubeconfig: Path | None, context: str | None) -> Chosen:
    """Return the configuration of ``context`` (or the current one), or ``ClusterError``.

    Without ``kubeconfig``, read ``$KUBECONFIG``, then ``~/.kube/config``, like ``kubectl``; without
    these files use the ServiceAccount that the kubelet mounts into a Pod.
    """
    named = kubeconfig or os.environ.get("KUBECONFIG")
    file = str(named or Path.home() / ".kube" / "config")
    if not any(Path(part).expanduser().is_file() for part in file.split(os.pathsep)):
        if not named and context in {None, IN_CLUSTER} and in_pod():
            configuration = service_account(MOUNT)
            _tune(configuration)
            return Chosen(file="", context=IN_CLUSTER, configuration=configuration)
        raise ClusterError(
            f"no kubeconfig: {file} does not exist",
            hint="pass --kubeconfig, set KUBECONFIG, or use --lab to start an emulated cluster",
        )
    for part in file.split(os.pathsep):
        _require_small(Path(part).expanduser())
    try:
        merged = KubeConfigMerger(file).config
        names = [item.value["name"] for item in merged["contexts"].value]
        name = _pick(names, merged.value.get("current-context"), context, file)
        configuration, impersonation = _loaded(merged, name)
    except ClusterError:
        raise
    except Exception as error:  # the library passes on whatever its YAML and file readers raise
        raise ClusterError(
            f"the kubeconfig {file} cannot be used: {_why(error)}",
            hint="compare with `kubectl config view`",
        ) from error
    return Chosen(file=file, context=name, configuration=configuration, impersonation=impersonation)


def _loaded(merged: ConfigNode, name: str) -> tuple[client.Configuration, tuple[Header, ...]]:
    """Return the client library's configuration of a context, with the credentials that we read."""
    context = merged["contexts"].get_with_name(name)["context"]
    cluster = merged["clusters"].get_with_name(context["cluster"])
    user = merged["users"].get_with_name(context.safe_get("user") or "", safe=True)
    folder = Path((user or cluster).path).absolute().parent
    login = prepared(user["user"].value if user else {}, cluster["cluster"].value, folder)
    cluster.value["cluster"] = login.cluster
    if user:
        user.value["user"] = login.user
    configuration = client.Configuration()
    KubeConfigLoader(merged, name, config_base_path=None).load_and_set(configuration)
    _tune(configuration)
    loopback = urlsplit(configuration.host).hostname in {"127.0.0.1", "localhost", "::1"}
    if loopback and not login.cluster.get("proxy-url"):
        configuration.proxy = None  # like Go's clients: no proxy for loopback
    return configuration, login.impersonation


def _require_small(file: Path) -> None:
    """Refuse a file that would crash the client library's reader, which has no limits."""
    try:
        bound_yaml(read_bytes(file, limits.YAML_BYTES).decode(errors="replace"))
    except (TooMuchError, OutsideFileError) as error:
        reason = error.strerror if isinstance(error, OutsideFileError) else error
        raise ClusterError(
            f"the kubeconfig {file} was not read: {reason}", hint="is it a kubeconfig?"
        ) from error
    except (OSError, yaml.YAMLError):
        return  # the client library reports it


def _pick(names: list[str], current: object, wanted: str | None, file: str) -> str:
    if wanted is None and not current:
        raise ClusterError(
            f"the kubeconfig {file} has no current context",
            hint=f"pass --context; it has {', '.join(names) or 'none'}",
        )
    wanted = str(wanted or current)
    if wanted not in names:
        raise ClusterError(
            f"the kubeconfig {file} has no context {wanted!r}",
            hint=nearest(wanted, names, otherwise=f"it has {', '.join(names) or 'none'}"),
        )
    return wanted


def _why(error: Exception) -> str:
    """Return what is wrong with the file; the library's own error for a malformed one is vague."""
    if isinstance(error, KeyError | TypeError | AttributeError):
        return "it does not have the form of a kubeconfig"
    return " ".join(str(error).split())


def _tune(configuration: client.Configuration) -> None:
    configuration.retries = False  # ``retries`` does, with back-off, where it is safe
    # The client runs an exec plugin before every request while its token has less than five minutes to
    # live, in every thread for itself. A token is used here until it is refused, then fetched anew.
    configuration.refresh_api_key_hook = None


MOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""The folder in which a kubelet mounts the token of a Pod."""
_ADDRESS = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")
"""Variables that a kubelet sets in every container."""


def in_pod(environment: Mapping[str, str] | None = None) -> bool:
    """Whether this process runs in a Pod: a kubelet sets the API server's address."""
    variables = os.environ if environment is None else environment
    return all(variables.get(name) for name in _ADDRESS)


def service_account(mount: Path) -> client.Configuration:
    """Return the configuration of this Pod's ServiceAccount; ``ClusterError`` if incomplete."""
    configuration = client.Configuration()
    token, authority = mount / "token", mount / "ca.crt"
    if not mount.is_dir():
        raise ClusterError(
            f"this Pod has no credentials: no ServiceAccount is mounted at {mount}",
            hint="is automountServiceAccountToken false in the Pod or its ServiceAccount? Else pass --kubeconfig",
        )
    try:
        InClusterConfigLoader(
            token_filename=str(token),
            cert_filename=str(authority),
            environ=os.environ,
        ).load_and_set(configuration)
        # The loader writes "bearer" and keeps a final line feed; the redactor needs the token.
        secret = token.read_text().strip()
        configuration.api_key["BearerToken"] = f"Bearer {secret}"
        register(secret)
    except (ConfigException, OSError, ValueError) as error:
        raise ClusterError(
            f"the ServiceAccount at {mount} cannot be used: {' '.join(str(error).split())}",
            hint="a kubelet mounts ca.crt and token there; `kubectl describe pod` says what it could not mount",
        ) from error
    return configuration
