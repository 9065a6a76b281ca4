"""Files: HDF5, packed chunks, places and seals; what is written is whole or not there."""
