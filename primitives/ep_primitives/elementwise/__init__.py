"""Operations on one element at a time: their rows, their formulas, and the base of families of such rows."""
