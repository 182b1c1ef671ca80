"""Text: analysis, sentences, numbers, locators."""
