"""The door for many: HTTP in front of the engines of all tenants."""
