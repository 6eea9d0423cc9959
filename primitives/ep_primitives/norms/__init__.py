"""The parts that norms made of other families share: operands, their checks, cells and cases."""
