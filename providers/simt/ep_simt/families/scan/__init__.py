"""The portable kernels of Scan: rows in pieces, a group of work-items each; scratch has the carry into each piece."""
