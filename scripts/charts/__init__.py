"""Charts as SVG text, from numbers: no library, no font, no script."""
