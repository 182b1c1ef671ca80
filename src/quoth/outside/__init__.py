"""The one way to the web: addresses that are public, and what is fetched from them."""
