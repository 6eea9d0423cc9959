"""The text of a PTX program: its declarations at once, the bodies of its functions when they are asked for."""
