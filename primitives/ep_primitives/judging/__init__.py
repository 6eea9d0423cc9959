"""The judges of results: references, promises of accuracy, the origins of elements, PyTorch as a second opinion."""
