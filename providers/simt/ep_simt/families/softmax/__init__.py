"""The portable kernels of Softmax, and the parts that all softmaxes and their backward forms share."""
