"""Time per kB of taking secrets out of one line, as the line grows: twice the text is to take twice the time.

Prints figures for a person; nothing is asserted. Run with ``python bench/redaction.py``.
"""

import time
from itertools import pairwise

from nettests.redaction.spans import redact

SIZES = (32, 64, 128, 256, 512)
"""Kilobytes."""
LINES = {
    "words": "10.244.1.7 win-1 endpoint ready, ",
    "names of secrets": "passwordtoken",
    "secrets": "password=hunter2 next=x ",
    "dashes": "a-",
    "addresses": "://a:b@",
    "nested YAML": "  password:\n    - token:\n        name: x\n",
    "quotes": '\\"name\\":',
}


def seconds(text: str) -> float:
    """Return the processor's time that one text takes, the least of three."""
    taken = []
    for _ in range(3):
        began = time.process_time()
        redact(text)
        taken.append(time.process_time() - began)
    return min(taken)


def main() -> None:
    """Print a row for each kind of line."""
    redact("token=x")  # the scanner's rules are read once
    for name, piece in LINES.items():
        times = [seconds(piece * (size * 1024 // len(piece))) for size in SIZES]
        per = ", ".join(
            f"{size} kB {1e6 * took / size:.0f}" for size, took in zip(SIZES, times, strict=True)
        )
        ratios = ", ".join(f"{b / a:.1f}" for a, b in pairwise(times))
        print(f"{name}: µs per kB {per}; each by the one before: {ratios}")


if __name__ == "__main__":
    main()
