"""The credentials that a kubelet gives a Pod: address from the environment, token and authority from a mounted folder.

Taken by ``kubeconfig`` where no kubeconfig is there, as ``kubectl`` and client-go do. Reads files only.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from kubernetes import client
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.incluster_config import InClusterConfigLoader

from nettests.errors import ClusterError
from nettests.redaction import register

MOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""The folder in which a kubelet mounts the token of a Pod."""
_ADDRESS = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")
"""Variables that a kubelet sets in every container."""


def in_pod(environment: Mapping[str, str] | None = None) -> bool:
    """Whether this process runs in a Pod: a kubelet names the API server to every container."""
    variables = os.environ if environment is None else environment
    return all(variables.get(name) for name in _ADDRESS)


def service_account(mount: Path) -> client.Configuration:
    """Return the configuration of this Pod's ServiceAccount; ``ClusterError`` if none is mounted, or it is incomplete."""
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
        # The loader writes "bearer" and keeps a line feed at the end; a redactor has to know the token itself.
        secret = token.read_text().strip()
        configuration.api_key["BearerToken"] = f"Bearer {secret}"
        register(secret)
    except (ConfigException, OSError, ValueError) as error:
        raise ClusterError(
            f"the ServiceAccount at {mount} cannot be used: {' '.join(str(error).split())}",
            hint="a kubelet mounts ca.crt and token there; `kubectl describe pod` says what it could not mount",
        ) from error
    return configuration
