"""Speed against peers and budgets: every figure is measured side by side in one process. The command is `ep-bench`."""
