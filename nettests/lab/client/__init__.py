"""How the lab's components use its API: requests and watches, caches of objects, events.

What ``client-go`` is to Kubernetes' components. ``rest`` makes requests, ``informer`` keeps caches on it, and
``events`` tells what happened to objects.
"""

from nettests.lab.client.rest import MERGE, STRATEGIC, ApiError, Client, Json, Retry

__all__ = ["MERGE", "STRATEGIC", "ApiError", "Client", "Json", "Retry"]
