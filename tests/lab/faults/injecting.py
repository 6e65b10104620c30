"""Faults as users inject them, and a request that shows what they break."""

from tests.lab.running import Lab


def inject(lab: Lab, *arguments: str) -> None:
    """Put a fault in force."""
    done = lab.command("fault", "inject", *arguments)
    assert done.returncode == 0, done.stderr


def request(lab: Lab, client: str, url: str) -> int:
    """curl's exit code: 0, 6 name not resolved, 28 timed out."""
    return lab.exec(client, "curl", "-s", "-m", "3", url)[0]
