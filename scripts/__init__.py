"""What an operator runs, one command each."""
