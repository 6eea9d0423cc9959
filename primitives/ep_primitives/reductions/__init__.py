"""What Reduce and ArgReduce share: the dimensions that go, and the rows that are reduced."""
