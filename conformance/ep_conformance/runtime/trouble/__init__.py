"""Cases of what goes wrong: errors at once and late, failures on request, shortage, reentry, and the end of a process."""
