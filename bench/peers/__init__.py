"""Other memory tools beside ours, as they install and run here."""
