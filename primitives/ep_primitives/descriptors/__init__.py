"""Parts that descriptors share: checks, attributes, axes, windows of operands, lowering to other families."""
