"""The web app: static files in ``static`` and the routes that serve them."""
