"""What newcomers meet: greetings, small talk, an overview."""
