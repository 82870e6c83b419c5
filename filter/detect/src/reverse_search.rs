//! Searches a text from its end, many bytes at a time. What an agent does stands at the end of what it says, and only a text
//! without an action is searched to its beginning.

/// Places that are looked at together.
const BLOCK: usize = 32;

/// The last place of `needle` in `text`. `needle` must have at least two bytes.
#[inline(never)]
pub(crate) fn last_place(text: &str, needle: &str) -> Option<usize> {
    let (bytes, needle) = (text.as_bytes(), needle.as_bytes());
    let (first, last) = (*needle.first()?, *needle.last()?);
    // Whether the first and the last byte of `needle` fit. All places of a block are checked, because that is done with vectors.
    let fits = |(one, other): (&u8, &u8)| (*one == first) & (*other == last);
    let further = needle.len().saturating_sub(1);
    let mut end = bytes.len().saturating_sub(further);
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        let firsts = bytes.get(start..end)?;
        let lasts = bytes.get(start.saturating_add(further)..end.saturating_add(further))?;
        let may_hold = match (firsts.first_chunk::<BLOCK>(), lasts.first_chunk::<BLOCK>()) {
            (Some(firsts), Some(lasts)) => firsts.iter().zip(lasts).fold(false, |any, both| any | fits(both)),
            _ => true,
        };
        let is_place = |at: &usize| {
            let is_one = firsts.get(*at).zip(lasts.get(*at)).is_some_and(fits);
            is_one && bytes.get(start.saturating_add(*at)..).is_some_and(|rest| rest.starts_with(needle))
        };
        if may_hold && let Some(at) = (0..firsts.len()).rev().find(is_place) {
            return Some(start.saturating_add(at));
        }
        end = start;
    }
    None
}

/// The parts of `text` before and behind the last place of `needle`.
#[inline(never)]
pub(crate) fn split_at_last<'t>(text: &'t str, needle: &str) -> Option<(&'t str, &'t str)> {
    let at = last_place(text, needle)?;
    Some((text.get(..at)?, text.get(at.saturating_add(needle.len())..)?))
}

/// The places of `needle` in `text`, the last first, including places that overlap.
pub(crate) fn places<'t>(text: &'t str, needle: &'t str) -> impl Iterator<Item = usize> + 't {
    let further = needle.len().saturating_sub(1);
    std::iter::successors(last_place(text, needle), move |at| {
        last_place(text.get(..at.saturating_add(further))?, needle)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_from_the_end_is_what_is_found_from_the_beginning() {
        let mut texts = vec![String::new(), "[".to_owned(), "[{".to_owned(), "é[{é[{".to_owned()];
        for length in 0..150 {
            texts.push("a".repeat(length) + "[{" + &"[".repeat(length % 41) + &"b{".repeat(length % 7));
            texts.push("`".repeat(length % 9) + &"x[".repeat(length) + "```" + &"{`".repeat(length / 3));
        }
        for text in &texts {
            for needle in ["[{", "```", "x[", "b{", "a[{"] {
                let all: Vec<usize> = places(text, needle).collect();
                let known: Vec<usize> = (0..text.len())
                    .rev()
                    .filter(|at| text.as_bytes()[*at..].starts_with(needle.as_bytes()))
                    .collect();
                assert_eq!(all, known, "{needle} in {text}");
                assert_eq!(last_place(text, needle), text.rfind(needle));
                assert_eq!(split_at_last(text, needle), text.rsplit_once(needle));
            }
        }
    }
}
