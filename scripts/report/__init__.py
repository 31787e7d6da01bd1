"""Evidence: `report.json`, and what is drawn from it."""
