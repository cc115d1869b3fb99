"""Summaries of whole documents, every section of them, with citations.

`requests` tells whether one is asked for, `naming` of which documents, `condensing` makes one prompt of a document of any
length, and `summaries` puts these together for `rag_engine.engine`.
"""
