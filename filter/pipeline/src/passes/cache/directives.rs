//! What the header `cache-control` says, in all its values. A comma within quotation marks separates nothing, so
//! `private="set-cookie, x"` is one directive.

/// What of it concerns the cache.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Directives {
    pub no_store: bool,
    /// The answer is for one client alone.
    pub private: bool,
    /// The provider is to be asked.
    pub no_cache: bool,
}

impl Directives {
    pub fn of(values: &[Vec<u8>]) -> Self {
        let mut found = Self::default();
        for value in values {
            let mut in_quotes = false;
            let mut is_escaped = false;
            let parts = value.split(|byte| {
                let separates = *byte == b',' && !in_quotes;
                in_quotes ^= *byte == b'"' && !is_escaped;
                is_escaped = in_quotes && *byte == b'\\' && !is_escaped;
                separates
            });
            let parts: Vec<&[u8]> = parts.collect();
            // A quotation that does not end says nothing about what stands behind it, so every comma separates.
            let parts = if in_quotes { value.split(|byte| *byte == b',').collect() } else { parts };
            parts.into_iter().for_each(|part| found.add(part));
        }
        found
    }

    fn add(&mut self, directive: &[u8]) {
        let mut parts = directive.splitn(2, |byte| *byte == b'=');
        let name = parts.next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
        let argument = parts.next().unwrap_or_default().trim_ascii();
        let argument =
            argument.strip_prefix(b"\"").and_then(|inside| inside.strip_suffix(b"\"")).unwrap_or(argument);
        let is_zero = !argument.is_empty() && argument.trim_ascii().iter().all(|digit| *digit == b'0');
        self.no_store |= name == b"no-store";
        self.private |= name == b"private";
        self.no_cache |= name == b"no-cache" || name == b"max-age" && is_zero;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_directive_of_every_value_is_read() {
        let of = |values: &[&str]| {
            let values: Vec<_> = values.iter().map(|value| value.as_bytes().to_vec()).collect();
            let Directives { no_store, private, no_cache } = Directives::of(&values);
            (no_store, private, no_cache)
        };
        for (values, expected) in [
            (&[][..], (false, false, false)),
            (&["max-age=60, public"], (false, false, false)),
            (&["NO-STORE"], (true, false, false)),
            (&["public", "max-age=1 , no-store"], (true, false, false)),
            (&["max-age=1", "Private"], (false, true, false)),
            (&["private=\"set-cookie, x\", max-age=0"], (false, true, true)),
            (&["max-age=\"0\""], (false, false, true)),
            (&["no-cache=\"set-cookie\""], (false, false, true)),
            (&["x=\"no-store, private\""], (false, false, false)),
            (&["x=\"a\\\", no-store\", private"], (false, true, false)),
            (&["x=\"a, no-store"], (true, false, false)),
            (&["no-store=1;x"], (true, false, false)),
            (&["no-stores, privateer"], (false, false, false)),
        ] {
            assert_eq!(of(values), expected, "{values:?}");
        }
    }
}
