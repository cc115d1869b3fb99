"""Messages, calendars and contacts."""
