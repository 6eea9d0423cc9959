"""Pages that are made from the families and from reports of the suite: docs/families, docs/reports/matrix.md, docs/reports/accuracy.md."""
