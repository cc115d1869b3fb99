"""One new thing is one new file: each part here is one file beside ours, and is used through the settings alone."""
