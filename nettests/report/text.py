"""Words for numbers, and safe text of a cluster for the renderers (``model.visible``)."""

from nettests.model.visible import one_line, visible

__all__ = ["one_line", "plural", "visible"]


def plural(count: int, noun: str) -> str:
    """Return ``1 check``, ``2 checks``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
