"""Pages made from the code, a file a page or a kind of page."""
