"""Does Windows networking in this Kubernetes cluster behave as documented?

The folders tell the story of a run in order: discover (``cluster``), ``plan``, ``expect``, deploy and
observe (``probes``), ``parse``, ``judge``, ``report``. ``model`` is the vocabulary they share,
``session`` strings them together, ``plugin`` is the thin pytest glue, and ``lab`` is a separate
product: an emulated mixed cluster that the harness meets through a kubeconfig only.
"""

__version__: str
__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Return the version where it is requested first: what reads it takes longer than ``nettests --help``."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version("nettests")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+unknown"
