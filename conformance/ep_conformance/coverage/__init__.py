"""Which situations the cases of a profile have met, counted by what the cases say of themselves.

It shares no code with the generator of the arrays (`python tools situations`): `feasible` decides by propagation which tuples a
model's rules allow, `census` gathers what cases have, and `count` holds the one to the other. A feasible pair that no case has is an error.
"""
