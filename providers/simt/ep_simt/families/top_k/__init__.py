"""The portable kernels of TopK: a group of work-items a row, which find the worst of the chosen digit by digit."""
