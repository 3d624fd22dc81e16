"""What an attacker may try: other users of the machine, words that agents saw, names that they sent."""
