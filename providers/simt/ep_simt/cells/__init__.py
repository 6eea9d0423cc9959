"""The parts that stages of recurrent cells share: one kind of body, and how its kernels find what is of an element."""
