"""How many examples each target of the fuzz tests gets: few by default, more by ``NETTESTS_FUZZ``."""

import os

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("NETTESTS_FUZZ", "60"))
"""Examples a target; ``make fuzz`` gives 5000."""

fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=False,
)
