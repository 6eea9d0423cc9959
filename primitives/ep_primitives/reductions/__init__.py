"""The parts that Reduce and ArgReduce share: the reduced dimensions, and the data of rows."""
