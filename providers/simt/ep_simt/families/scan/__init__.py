"""The portable kernels of Scan: rows in pieces, a group of work-items each, and what comes before each piece in scratch."""
