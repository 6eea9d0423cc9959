"""The commands of `ep-conformance`, one file each, which exports it as `command`; `exits` and `options` are what they share."""
