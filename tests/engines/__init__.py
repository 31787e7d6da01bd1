"""Later engines, each in an environment of its own; not part of `make test`."""
