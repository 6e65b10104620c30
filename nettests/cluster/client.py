"""The client library's HTTP client, as this tool uses it: it says who sends requests, and answers end by a deadline.

One a thread, lent by ``connection``. What is tested, and how long an answer may take, is not known here.
"""

from kubernetes import client

from nettests.deadlines import Patience, timely

USER_AGENT = "nettests"
"""Who sends requests, in the API server's audit log."""


class Client(client.ApiClient):  # type: ignore[misc]  # the library has no types
    """One client; ``patience`` says when the answer that is read now has to have ended."""

    def __init__(self, configuration: client.Configuration) -> None:
        super().__init__(configuration=configuration)
        self.user_agent = USER_AGENT
        self.patience = Patience()
        timely(self.rest_client.pool_manager, self.patience)
