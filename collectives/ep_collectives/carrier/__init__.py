"""What carriers share: a rank's numbers, launches that take one, kernels that reduce, the thread beside a driver's queue."""
