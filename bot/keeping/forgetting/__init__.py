"""Forgetting a person, a channel or a document everywhere: found, removed, erased from the bytes on the disk, and looked for again.

What is to be forgotten is a list of ids (`marks`). Each place where one can stand is a rule (`rules`): the same rule counts what
would go, removes it, and makes sure that nothing is left. The marks are written down before anything is removed, so that what
was interrupted is finished by the next `footnote forget`.
"""
