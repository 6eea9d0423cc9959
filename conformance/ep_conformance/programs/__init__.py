"""Generated programs: random, legal work over several streams, and a sequential model that predicts every byte of it.

`order` knows the happens-before relation, `build` and `capture` make a legal program of drawn intents, each a verb of
`verbs`; `moves points launches lives` are the ops that it consists of, with what they do to the model and on a device;
`stage`
performs one, `search` draws many and shrinks one that fails.
"""
