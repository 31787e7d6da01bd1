"""What the other packages share; it imports none of them."""

VERSION = "0.1.0"  # that of pyproject.toml, which an image does not have installed
