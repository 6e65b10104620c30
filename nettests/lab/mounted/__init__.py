"""What containers of the lab have mounted: volumes that the containers of a pod share, and what each sees of them."""

from nettests.lab.mounted.files import FileError, Files, Mount, Volume

__all__ = ["FileError", "Files", "Mount", "Volume"]
