"""Sound, pictures and subtitles."""
