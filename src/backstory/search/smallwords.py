"""The small words of English: they say nothing of what is sought."""

SMALL = frozenset(
    {
        "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as",
        "at", "be", "because", "been", "before", "being", "between", "both", "but", "by", "can",
        "could", "did", "do", "does", "doing", "done", "during", "each", "else", "ever", "few",
        "for", "from", "further", "get", "gets", "getting", "go", "goes", "going", "got", "had",
        "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if",
        "in", "into", "is", "it", "its", "itself", "just", "let", "like", "made", "make", "makes",
        "many", "may", "me", "might", "more", "most", "much", "must", "my", "no", "nor", "not",
        "now", "of", "off", "on", "once", "one", "only", "or", "other", "our", "ours", "out",
        "over", "own", "per", "please", "put", "re", "said", "same", "say", "says", "see",
        "shall", "she", "should", "since", "so", "some", "such", "than", "that", "the", "their",
        "them", "then", "there", "these", "they", "thing", "things", "this", "those", "through",
        "thus", "to", "too", "under", "until", "up", "upon", "us", "use", "used", "using", "very",
        "via", "was", "way", "we", "were", "what", "whatever", "when", "where", "whether",
        "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "without",
        "would", "yes", "yet", "you", "your", "yours", "d", "ll", "m", "s", "t", "ve", "don",
        "didn", "doesn", "isn", "wasn", "weren", "won", "aren", "couldn", "shouldn", "wouldn",
    }
)  # fmt: skip
