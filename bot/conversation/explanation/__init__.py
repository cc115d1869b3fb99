"""Why an answer says what it says, for one person."""
