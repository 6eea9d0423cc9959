"""The commands that EP is built, documented and questioned with: `python tools COMMAND`. No installed package has them."""
