"""The portable kernel of Attention."""
