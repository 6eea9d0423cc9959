"""Imports the rooms before pytest sees their folders, which carry the same names."""

import ep_conformance  # noqa: F401
import ep_cpu  # noqa: F401
import ep_opencl  # noqa: F401
import ep_primitives  # noqa: F401
import ep_simt  # noqa: F401

import ep  # noqa: F401 - the import is the purpose
