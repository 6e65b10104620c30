"""Certificates of one lab, from an authority made for it alone (trustme); nothing else trusts it."""

import ssl
from dataclasses import dataclass

import trustme

from nettests.lab.installers.system_objects import control_plane_address
from nettests.lab.topology import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """The authority's certificate (PEM) and server contexts of the API and of each kubelet."""

    ca: bytes
    api: ssl.SSLContext
    kubelets: dict[str, ssl.SSLContext]


def make(profile: Profile) -> Certificates:
    """Make an authority and issue all certificates of a lab."""
    authority = trustme.CA(organization_name="nettests lab")
    api = _server_context(
        authority,
        "127.0.0.1",
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        f"kubernetes.default.svc.{profile.cluster_domain}",
        str(profile.service_cidr[1]),
        control_plane_address(profile),
    )
    return Certificates(
        ca=authority.cert_pem.bytes(),
        api=api,
        kubelets={
            node.name: _server_context(authority, node.name, str(node.address))
            for node in profile.nodes
        },
    )


def _server_context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context
