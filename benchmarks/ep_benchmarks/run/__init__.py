"""`ep-bench run`: samples of all families, judged and timed beside peers and limits."""
