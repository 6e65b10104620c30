"""The HTTP client of the Kubernetes library, with our user agent and a deadline for each response.

``connection`` lends one to each thread. Nothing here knows what is tested or how long a response may take.
"""

from kubernetes import client

from nettests.deadlines import Patience, timely

USER_AGENT = "nettests"
"""The sender's name in the API server's audit log."""


class Client(client.ApiClient):  # type: ignore[misc]  # the library has no types
    """One client; ``patience`` is the deadline of the answer that is being read."""

    def __init__(self, configuration: client.Configuration) -> None:
        super().__init__(configuration=configuration)
        self.user_agent = USER_AGENT
        self.patience = Patience()
        timely(self.rest_client.pool_manager, self.patience)
