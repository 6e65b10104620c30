"""Dissect captured packets: frames → values. The only importer of scapy.

Used by ``capture``, and by tests of the lab. It opens no socket and captures nothing itself. scapy
comes with the extra ``packets`` (decision 0027).
"""

from nettests.tracing.packet import Encapsulation, Packet
from nettests.wire.dissect import dissect
from nettests.wire.reading import dissected, read_capture, read_file

__all__ = ["Encapsulation", "Packet", "dissect", "dissected", "read_capture", "read_file"]
