"""Parsing of generated answers, sentence by sentence."""
