"""The source of the chart's values, schema, facts and page."""
