"""``agnhost dns-suffix``, ``dns-server-list`` and ``etc-hosts``: the container's resolver settings."""

from nettests.lab.interfaces import Process
from nettests.lab.programs import image_files
from nettests.lab.programs.golang.flags import Parsed
from nettests.lab.topology import OS


async def print_suffixes(process: Process, _options: Parsed) -> int:
    """Print the suffixes, comma-separated; on Linux agnhost panics when there is no search list."""
    machine = process.machine
    if not machine.resolver.searches and machine.os is OS.LINUX:
        await process.stderr(b"panic: Could not find DNS search list!\n\ngoroutine 1 [running]:\n")
        return 2
    await process.stdout(f"{','.join(machine.resolver.searches)}\n".encode())
    return 0


async def print_servers(process: Process, _options: Parsed) -> int:
    """Print the DNS servers, comma-separated."""
    await process.stdout(f"{','.join(process.machine.resolver.servers)}\n".encode())
    return 0


async def print_hosts(process: Process, _options: Parsed) -> int:
    """Print the hosts file and one more newline."""
    text = image_files.hosts_file(process.machine.resolver)
    await process.stdout(f"{text}\n".encode())
    return 0
