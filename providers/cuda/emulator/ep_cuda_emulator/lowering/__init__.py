"""From a function of PTX to LLVM IR: a file for each group of instructions, `rules.RULES` for all of them."""
