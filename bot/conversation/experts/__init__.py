"""Questions that the files do not answer go to people, with the asker's consent, and their answers come back.

Each step is stored before it is written, and what was written is found again by its key, so that a killed process loses nothing and posts
nothing twice: sending -> waiting -> answered -> delivered; waiting -> asking -> asked -> replying -> waiting; handing -> sending; or
declined or withdrawn -> closed.
"""
