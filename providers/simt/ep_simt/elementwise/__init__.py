"""The parts that elementwise families share: rows of ops in .def files, loops over elements, and their body."""
