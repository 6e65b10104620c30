"""What containers of the lab have mounted: volumes that the containers of a pod share, and the programs of their image."""

from nettests.lab.mounted.drive import CopyError, CopyFailure, Drive, full
from nettests.lab.mounted.files import FileError, Files, Mount, Volume

__all__ = ["CopyError", "CopyFailure", "Drive", "FileError", "Files", "Mount", "Volume", "full"]
