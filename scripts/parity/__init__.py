"""Numeric parity: the engine's probabilities against a plain fp32 forward's."""
