"""What is outside of the emulated cluster: the external host, and the door by which a user becomes its client."""
