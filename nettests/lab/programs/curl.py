"""``curl``: one HTTP or HTTPS request, with curl's exit codes, in the version each system has.

Linux image 7.88.1; Windows image 7.57.0, or 8.12.1 since agnhost 2.63 (kubernetes/kubernetes, test/images/agnhost); the
Windows node's own (7.55.1, or 7.83.1 since 20348: Windows updates it, which no document lists by build). Options
beyond the ones probes use are refused as unknown. The progress meter is not printed.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from nettests.lab.interfaces import Machine, Process
from nettests.lab.programs import curl_options
from nettests.lab.programs.curl_options import Options, UsageError
from nettests.lab.programs.curl_transfer import CurlError, Report, Transfer, transfer
from nettests.lab.programs.terminal import err
from nettests.lab.topology import OS

_WINDOWS_IMAGE, _NEWER_IMAGE = (7, 57, 0), (8, 12, 1)
# registry.k8s.io/e2e-test-images/agnhost:2.63.0
_NEW_CURL = re.compile(r".*/agnhost:2\.(6[3-9]|[7-9]\d)\b.*")
_LINUX_IMAGE = (7, 88, 1)
_WINDOWS_2019 = (7, 55, 1)
_WINDOWS_LATER = (7, 83, 1)
_BUILD_2022 = 20348


def version(machine: Machine) -> tuple[int, int, int]:
    """Return the version of the curl that this container finds first on its path."""
    if machine.os is OS.LINUX:
        return _LINUX_IMAGE
    if not machine.host_process:
        return _NEWER_IMAGE if _NEW_CURL.fullmatch(machine.image) else _WINDOWS_IMAGE
    if machine.windows.curl:
        major, minor, patch = machine.windows.curl.split(".")
        return int(major), int(minor), int(patch)
    return _WINDOWS_LATER if (machine.build or 0) >= _BUILD_2022 else _WINDOWS_2019


async def run(process: Process, words: Sequence[str]) -> int:
    """Transfer one URL, or those of a range one after the other; return curl's exit code, which is the last one's."""
    try:
        options = curl_options.parse(words)
    except UsageError as error:
        await err(process, f"curl: {error}\ncurl: try 'curl --help' for more information\n")
        return 2
    code = 0
    for url in curl_options.urls(options.url):
        code = await _transfer(process, replace(options, url=url))
    return code


async def _transfer(process: Process, options: Options) -> int:
    loop = asyncio.get_running_loop()
    job = Transfer(
        machine=process.machine,
        options=options,
        version=version(process.machine),
        write=_discard if options.output else process.stdout,
        started=loop.time(),
    )
    report, failure = Report(), None
    try:
        await transfer(job, report)
    except CurlError as error:
        failure = error
    if options.write_out:
        spent = loop.time() - job.started
        await process.stdout(curl_options.write_out(options.write_out, report, spent).encode())
    if failure is None:
        return 0
    if not options.silent or options.show_error:
        await err(process, f"curl: ({failure.code}) {failure.text}\n")
    return failure.code


async def _discard(_data: bytes) -> None:
    """``-o NUL``."""
