"""What a language model writes, read sentence by sentence."""
