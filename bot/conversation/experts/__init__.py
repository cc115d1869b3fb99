"""Questions that the files do not answer go to people, with the asker's consent, and their answers come back.

Each step is stored before it is written, and found again by its key; a kill loses and repeats nothing: sending -> waiting -> answered -> delivered; waiting -> asking -> asked -> replying -> waiting; handing -> sending; or
declined or withdrawn -> closed.
"""
