"""Pure functions on text: analyzer, language, sentences, tokens."""
