"""The HTTP client of the Kubernetes library, with our user agent and a deadline for each response.

``connection`` lends one to each thread. Nothing here knows what is tested or how long a response may take.
"""

from collections.abc import Sequence
from typing import Any

from kubernetes import client
from urllib3 import HTTPHeaderDict

from nettests.deadlines import Patience, timely

USER_AGENT = "nettests"
"""The sender's name in the API server's audit log."""


class Client(client.ApiClient):  # type: ignore[misc]  # the library has no types
    """One client; ``patience`` is the deadline of the answer that is being read, ``headers`` go with every request."""

    def __init__(
        self, configuration: client.Configuration, headers: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__(configuration=configuration)
        self._headers = headers
        self.user_agent = USER_AGENT
        self.patience = Patience()
        timely(self.rest_client.pool_manager, self.patience)

    def param_serialize(self, *arguments: Any, **named: Any) -> tuple[Any, ...]:
        """Return the parts of a request; unlike the library's own, its headers may have a name more than once."""
        method, url, headers, *rest = super().param_serialize(*arguments, **named)
        several = HTTPHeaderDict(headers)
        for name, value in self._headers:
            several.add(name, value)
        return (method, url, several, *rest)
