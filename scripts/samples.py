"""Read a folder of samples with the product's own readings, and compare what was read with what is due.

    python scripts/samples.py DIR

``DIR`` has an ``index.tsv`` whose header names its columns (``file``, ``reading`` or ``reader``, ``expected`` or
``expected reading``), or folders that have one. Prints a line for each row and the totals, and exits with 1 if a
reading is wrong. A row whose reading no module of ``scripts/sample_readings`` has is listed as such.
"""

import argparse
import csv
import importlib
import pkgutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts import sample_readings  # noqa: E402
from scripts.sample_readings.sample import (  # noqa: E402
    Reading,
    Sample,
    Verdict,
    judged,
    reading_named,
)

INDEX = "index.tsv"


def main() -> int:
    """Print the table; 1 if something is wrong, 2 if there is nothing to read."""
    parser = argparse.ArgumentParser(description="Read samples, and compare with what is due.")
    parser.add_argument("folder", type=Path, help=f"a folder with {INDEX}, or with such folders")
    parser.add_argument("--only", default="", help="only readings whose name begins so")
    folder, only = vars(parser.parse_args()).values()
    samples = [sample for sample in samples_in(folder) if sample.reading.startswith(only)]
    if not samples:
        print(f"{folder}: no sample; expected {INDEX} there or in its folders", file=sys.stderr)  # noqa: T201 - a script for people
        return 2
    readings = all_readings()
    totals: Counter[Verdict] = Counter()
    lines = ["file\treading\texpected\tread\tverdict"]
    for sample in samples:
        text, verdict = judged(sample, reading_named(sample.reading, readings))
        totals[verdict] += 1
        read = " ".join(text.split())
        lines.append(f"{sample.file}\t{sample.reading}\t{sample.expected}\t{read}\t{verdict}")
    counts = ", ".join(f"{totals[verdict]} {verdict}" for verdict in Verdict)
    print(*lines, f"{len(samples)} rows: {counts}", sep="\n")  # noqa: T201 - a script for people
    return 1 if totals[Verdict.WRONG] else 0


def samples_in(folder: Path) -> Iterator[Sample]:
    """Yield the rows of a folder's index and of those of its folders."""
    for index in sorted(folder.rglob(INDEX)):
        with index.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                yield Sample(
                    folder=index.parent,
                    file=row["file"],
                    reading=row.get("reading") or row["reader"],
                    expected=row.get("expected") or row["expected reading"],
                )


def all_readings() -> dict[str, Reading]:
    """Return the readings of all topics."""
    readings: dict[str, Reading] = {}
    for module in pkgutil.iter_modules(sample_readings.__path__):
        topic = importlib.import_module(f"{sample_readings.__name__}.{module.name}")
        readings |= getattr(topic, "READINGS", {})
    return readings


if __name__ == "__main__":
    sys.exit(main())
