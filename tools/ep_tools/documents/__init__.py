"""Pages that are made from the families and from reports of the suite: docs/families, docs/matrix.md, docs/accuracy.md."""
