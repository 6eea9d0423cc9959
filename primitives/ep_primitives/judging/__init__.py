"""What results are judged against: references, promises of accuracy, where elements come from, PyTorch as a second opinion."""
