"""What descriptors share: checks, attributes, axes, windows of operands, what lowers to others."""
