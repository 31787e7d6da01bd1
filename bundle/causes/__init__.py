"""Why an engine died, read from its log: one table, for the start and the doctor."""
