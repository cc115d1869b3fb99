"""Sources that keep themselves current: folders, web pages, Git repositories, ..."""
