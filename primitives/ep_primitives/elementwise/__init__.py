"""Operations on one element at a time: their rows and formulas, and what families of such rows share."""
