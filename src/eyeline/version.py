"""Which version of Eyeline this is."""

VERSION = "0.1.0"
