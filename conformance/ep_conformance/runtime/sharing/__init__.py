"""Cases of memory that other libraries share: theirs, seen in place, and EP's, shown to them."""
