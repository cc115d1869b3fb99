"""Each declares TITLE, PATH, POSITION and `show`; OPERATOR_ONLY, SAID and `act` if it needs them."""
