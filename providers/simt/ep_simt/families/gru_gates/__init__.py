"""The portable kernel of GruGates."""
