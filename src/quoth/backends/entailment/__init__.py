"""Entailment models."""
