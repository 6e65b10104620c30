"""Ownership marks: the labels and annotations on everything that a run creates, and how to read them back. Pure.

Run and owner are labels, because objects are selected by them; creation and expiry are annotations, because a time is
no label value. An object that lacks one of the marks is not ours, whatever its name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from nettests.model.labels import CREATED, EXPIRES, OWNER_LABEL, RUN_LABEL

Object = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """Who created an object, for which run, when, and when it expires."""

    run: str
    owner: str
    created: datetime
    expires: datetime

    @property
    def labels(self) -> dict[str, str]:
        """The labels that every object of the run carries."""
        return {RUN_LABEL: self.run, OWNER_LABEL: label_value(self.owner)}

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations that every object of the run carries."""
        return {CREATED: _spelled(self.created), EXPIRES: _spelled(self.expires)}

    def marked(self, item: Object) -> Object:
        """Return the object with the run's marks added; its own labels and annotations stay.

        The Pods of a workload's template are marked too: they outlive it for a moment.
        """
        for name in ("template", "jobTemplate"):
            if (template := (item.get("spec") or {}).get(name)) is not None:
                item = {**item, "spec": {**item["spec"], name: self.marked(template)}}
        meta = item.get("metadata") or {}
        marks = {
            "labels": {**(meta.get("labels") or {}), **self.labels},
            "annotations": {**(meta.get("annotations") or {}), **self.annotations},
        }
        return {**item, "metadata": {**meta, **marks}}

    @classmethod
    def of(cls, item: Object) -> Self | None:
        """Read the marks of an object; ``None`` for one that lacks any of them."""
        meta = item["metadata"]
        labels, notes = meta.get("labels") or {}, meta.get("annotations") or {}
        try:
            return cls(
                run=labels[RUN_LABEL],
                owner=labels[OWNER_LABEL],
                created=_read(notes[CREATED]),
                expires=_read(notes[EXPIRES]),
            )
        except (KeyError, ValueError):
            return None


def run_of(item: Object) -> str | None:
    """Return the run that an object says it belongs to."""
    labels: Mapping[str, str] = item["metadata"].get("labels") or {}
    return labels.get(RUN_LABEL)


def label_value(text: str) -> str:
    """Return ``text`` as a valid label value: other characters become dashes, 63 at most."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:63].strip("-_.")


def _spelled(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _read(text: str) -> datetime:
    # sample: 2026-11-21T22:20:00Z
    read = datetime.fromisoformat(text)
    if read.tzinfo is None:
        raise ValueError(f"no time zone: {text}")
    return read
