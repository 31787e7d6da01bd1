"""One table of checks for two callers: the doctor and the entrypoint's preflight.

`finding`, `world`, `host`, `ascend`, `chips`, `container` and `variables` need the
standard library of Python 3.9 only, so that the doctor runs on a bare host.
"""
