"""Small tools that know nothing of forests."""
