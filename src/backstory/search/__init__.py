"""Search: finding what was said, done and learned.

lexical.py    from a question to ranked hits, by words
"""
