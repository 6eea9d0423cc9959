"""What norms share that are made of other families: operands, their checks, cells and cases."""
