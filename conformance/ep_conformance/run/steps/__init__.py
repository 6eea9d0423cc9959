"""The steps of a case of a family, each a function of a module of its own that calls none of the others; `path` alone calls them.

draw    : a `Case` becomes a `Draw`, operands between red zones, that could show a fault
place   : a `Turn`, one launch of a draw, becomes `Placed`: memories of the device, uploaded in a stream
launch  : the placed operands become images of their memories after the launch
judge   : draws and images become an `Outcome`; it is the floor `judge`'s `result`
repeat  : images of equal launches, and of parts of the work, are held to the same bits

`sweep` goes through every float32 instead; `need` says how much memory a case takes, `refusal` which launches validation refuses.
"""
