"""What captured packets say: frames in, values out. The only importer of scapy.

Beside the harness's flow: tests of the lab and of its profiles read captures with it. It opens no
socket and captures nothing itself. scapy comes with the extra ``packets`` alone (decision 0027).
"""

from nettests.wire.dissect import Encapsulation, Packet, dissect, read_capture

__all__ = ["Encapsulation", "Packet", "dissect", "read_capture"]
