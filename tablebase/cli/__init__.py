"""The commands: parse, call, print. Nothing else happens here.

Results go to stdout, everything else to stderr. Modules that need numba or
h5py are imported only by the commands that use them, so that `--help` and
mistakes are answered at once.
"""
