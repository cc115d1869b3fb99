"""Language models, one package each."""
