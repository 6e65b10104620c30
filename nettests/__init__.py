"""Does Windows networking in this Kubernetes cluster behave as documented?

The folders tell the story of a run in order: discover (``cluster``), ``plan``, ``expect``, deploy and
observe (``probes``), ``parse``, ``judge``, ``report``. ``model`` is the vocabulary they share,
``session`` strings them together, ``plugin`` is the thin pytest glue, and ``lab`` is a separate
product: an emulated mixed cluster that the harness meets through a kubeconfig only.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("nettests")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
