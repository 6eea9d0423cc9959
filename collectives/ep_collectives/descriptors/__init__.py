"""The collectives as descriptors: what each means at one rank, and what the ranks must agree on."""
