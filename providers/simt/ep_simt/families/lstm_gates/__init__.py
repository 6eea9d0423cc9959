"""The portable kernel of LstmGates."""
