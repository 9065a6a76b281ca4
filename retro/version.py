"""The version of the distribution, alone in a file so that packaging reads it without importing."""

VERSION = "0.4.0"
