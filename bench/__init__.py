"""The peer bench: quoth beside what a user would otherwise run, measured in one go.

Read `__main__` for the order of things, `system` for what a system under test is, `phases` for
what is measured, and one file of `systems/` as an example.
"""
