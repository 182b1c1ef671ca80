"""Orchestration of the stages that need components."""
