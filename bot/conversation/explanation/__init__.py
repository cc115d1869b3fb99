"""Why an answer says what it says."""
