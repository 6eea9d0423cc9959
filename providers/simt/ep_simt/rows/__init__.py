"""What families over rows share: how rows lie, and trees over a group's work-items in shared memory."""
