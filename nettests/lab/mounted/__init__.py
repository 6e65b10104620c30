"""What containers of the lab have mounted: volumes that the containers of a pod share, and the programs of their image."""
