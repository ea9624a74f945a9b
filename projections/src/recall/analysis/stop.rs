//! Words that say little about what is asked.

/// Folded, in byte order. English question and function words, and the commonest of Turkish.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "bir", "both", "bu", "but", "by", "can", "could", "da", "de", "did", "didnt", "do", "does",
    "doesnt", "doing", "done", "dont", "during", "each", "for", "from", "had", "has", "hasnt", "have", "having", "he",
    "her", "hers", "him", "his", "how", "i", "icin", "if", "ile", "in", "into", "is", "isnt", "it", "its", "kind",
    "like", "many", "may", "me", "mi", "might", "much", "my", "ne", "no", "not", "of", "on", "or", "our", "shall",
    "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "to", "type", "us", "ve", "was", "wasnt", "we", "were", "what", "when", "where", "which", "while",
    "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

/// Whether a folded word is left out of a query that has other words.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::STOP_WORDS;

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted());
    }
}
