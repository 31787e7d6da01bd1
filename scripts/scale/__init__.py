"""What the chart's scaling rule does over a day with peaks: a simulation."""
