"""Recording and alerting rules; `<model>.yml` beside is written by `make generate`."""
