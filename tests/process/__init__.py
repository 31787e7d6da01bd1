"""Real processes and the real engine."""
