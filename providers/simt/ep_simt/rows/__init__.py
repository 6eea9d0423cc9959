"""The parts that families over rows share: the layout of rows, and trees over a group's work-items in shared memory."""
