"""The portable kernel of GruReset."""
