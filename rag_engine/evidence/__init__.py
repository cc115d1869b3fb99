"""Do the passages found answer the question?"""
