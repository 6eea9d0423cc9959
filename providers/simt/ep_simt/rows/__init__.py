"""The parts that families over rows share: the layout of rows, and folds over the elements of a work-item and of a group."""
