"""The situations of elementwise families: models by layout, and the arrangements that situations mean."""
