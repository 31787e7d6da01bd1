"""What the other packages share; it imports none of them."""
