"""The words of the chunks: postings in segments, and spelling corrections."""
