"""Files made to harm their readers, read under watch."""
