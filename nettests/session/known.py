"""Secrets that a process has read, from its start on, for everything that prints or writes.

A run may end before it began: its kubeconfig was read by then, and an error may quote it. Code that reads secrets
registers them here; code that prints or writes redacts with them.
"""

from collections.abc import Callable
from urllib.parse import urlsplit

from nettests.model.cluster_profile import ClusterProfile
from nettests.redaction import Redactor

Secrets = Callable[[], tuple[str, ...]]


class Known:
    """Secrets by those who hold them, read from them each time: tokens change while a run goes on."""

    def __init__(self) -> None:
        self._holders: list[Secrets] = []

    def learn(self, secrets: Secrets) -> None:
        """Add somebody who holds secrets."""
        self._holders.append(secrets)

    def profile(self, profile: ClusterProfile) -> None:
        """Add the passwords of a cluster profile's proxies."""
        proxies = (profile.external_proxy, profile.external_udp_proxy)
        passwords = tuple(filter(None, (urlsplit(proxy or "").password for proxy in proxies)))
        self.learn(lambda: passwords)

    def __call__(self) -> tuple[str, ...]:
        """Return all of them."""
        return tuple(secret for holder in tuple(self._holders) for secret in holder())

    @property
    def redactor(self) -> Redactor:
        """A redactor that knows them, those to come included."""
        return Redactor(held=self)
