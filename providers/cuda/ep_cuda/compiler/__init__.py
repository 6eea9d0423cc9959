"""From the text of a program to a module: NVRTC, and the files that one process keeps for the next."""
