"""Files of the lab's containers: the volumes of their pod, and the executables of their image."""
