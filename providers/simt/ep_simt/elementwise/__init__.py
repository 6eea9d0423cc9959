"""What elementwise families share: rows of ops in .def files, loops over elements, and their one kind of body."""
