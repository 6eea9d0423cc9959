"""What an AllReduce costs on paper: a simulation of links, the schedules that it runs, and the formulas beside it."""
