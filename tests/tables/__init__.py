"""Made tables with rows and columns that are easily taken for each other, and questions about single cells of them."""
