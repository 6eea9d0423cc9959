"""The portable kernels of AddN: sums of up to four terms at once, of more in several launches."""
