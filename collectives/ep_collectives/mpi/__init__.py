"""The MPI carrier: each rank is a process that `mpiexec` started, on any device.

Ranks write letters to one another, and data messages where a letter is too short. A letter says which collective a rank has
come to, and carries what is little. When a rank has the letters of all others and they agree, the data messages begin. All
is point to point, so that collectives of several streams do not wait for one another, and a failure ends each of them.
"""
