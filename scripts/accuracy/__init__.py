"""Word problems with numbers as answers: GSM8K, and fifty of our own."""
