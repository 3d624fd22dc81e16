"""What must hold while processes are killed."""
