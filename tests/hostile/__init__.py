"""Files made to harm whoever reads them, and the reading of them under watch."""
