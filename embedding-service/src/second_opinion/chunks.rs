//! Parts of a text for a model that reads a bounded number of tokens. A part ends with a sentence or a line where there is such an end
//! in its second half.

use std::ops::Range;

/// A token's place in its text, in bytes.
pub type TokenSpan = (usize, usize);

/// The tokens of each part: at most `most` parts of at most `length` tokens.
pub fn chunks(text: &str, places: &[TokenSpan], length: usize, most: usize) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < places.len() && chunks.len() < most {
        let end = start.saturating_add(length.max(1)).min(places.len());
        let end = if end < places.len() { good_end(text, places, start, end) } else { end };
        chunks.push(start..end);
        start = end;
    }
    chunks
}

/// The last end of a sentence or a line in the second half of this part, or else the end of the part.
fn good_end(text: &str, places: &[TokenSpan], start: usize, end: usize) -> usize {
    let half = start.midpoint(end);
    let is_good = |at: &usize| {
        let (Some((_, before)), Some((after, _))) = (places.get(at.saturating_sub(1)), places.get(*at))
        else {
            return false;
        };
        let ends = text.get(..*before).is_some_and(|text| text.ends_with(['.', '!', '?']));
        ends || text.get(*before..*after).is_some_and(|gap| gap.contains('\n'))
    };
    (half.saturating_add(1)..=end).rev().find(is_good).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A token for each word, and for each sign behind one.
    fn words(text: &str) -> Vec<TokenSpan> {
        let mut places = Vec::new();
        let mut start = None;
        for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
            if !c.is_alphanumeric() {
                places.extend(start.take().map(|start| (start, at)));
                if c.is_ascii_punctuation() {
                    places.push((at, at.saturating_add(1)));
                }
            } else if start.is_none() {
                start = Some(at);
            }
        }
        places
    }

    fn parts(text: &str, length: usize, most: usize) -> Vec<&str> {
        let places = words(text);
        let part = |tokens: Range<usize>| {
            let tokens = &places[tokens];
            text.get(tokens.first().unwrap().0..tokens.last().unwrap().1).unwrap()
        };
        chunks(text, &places, length, most).into_iter().map(part).collect()
    }

    #[test]
    fn parts_end_with_a_sentence_or_a_line_where_they_can() {
        assert_eq!(
            parts("one two three. four five six seven", 6, 9),
            ["one two three.", "four five six seven"]
        );
        assert_eq!(parts("a b c d\ne f g", 6, 9), ["a b c d", "e f g"]);
        assert_eq!(parts("a. b c d e f g h", 6, 9), ["a. b c d e", "f g h"]);
        assert_eq!(parts("a b c d e f g", 3, 9), ["a b c", "d e f", "g"]);
    }

    #[test]
    fn parts_are_bounded_whatever_the_text() {
        let long = "word ".repeat(1_000);
        assert_eq!(parts(&long, 10, 4).len(), 4);
        assert!(chunks("", &[], 10, 4).is_empty());
        assert_eq!(chunks("x", &[(0, 1)], 0, 4), std::slice::from_ref(&(0..1)));
        // Places that are none of the text's.
        assert_eq!(chunks("é", &[(0, 1), (1, 9), (7, 3), (0, 0)], 2, 4).len(), 2);
    }
}
