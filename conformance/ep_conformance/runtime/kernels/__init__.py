"""Cases of launches: primitives, steps, scratch, states, validation, and generated programs of all that there is."""
