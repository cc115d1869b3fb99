"""Channels as sources: their messages are stored, and written into the index by thread or day.

Events and history only change what is stored; documents are written from that. So a kill leaves at worst a document to write again.
"""
