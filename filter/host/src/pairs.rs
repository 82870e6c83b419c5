//! Headers in the memory layout of the proxy-wasm ABI: their number, the lengths of each name and value, then each name and value
//! with a zero byte behind it.

#[derive(Debug, Default)]
pub struct Pairs(pub Vec<u8>);

impl Pairs {
    /// The first value of a header. `name` is in lower case, as Envoy's names are.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.find(name, Some)
    }

    /// All values of a header.
    pub fn all(&self, name: &str) -> Vec<Vec<u8>> {
        let mut values = Vec::new();
        self.find(name, |value| {
            values.push(value.to_vec());
            None::<()>
        });
        values
    }

    /// Gives the values of a header to `take` until it returns something. Most headers are skipped because their names have another length.
    fn find<'h, T>(&'h self, name: &str, mut take: impl FnMut(&'h [u8]) -> Option<T>) -> Option<T> {
        let (lengths, texts) = self.parts()?;
        let mut start = 0_usize;
        for [name_length, value_length] in lengths {
            let value = start.wrapping_add(name_length).wrapping_add(1);
            let end = value.wrapping_add(value_length);
            if name_length == name.len()
                && texts.get(start..)?.starts_with(name.as_bytes())
                && let Some(taken) = take(texts.get(value..end)?)
            {
                return Some(taken);
            }
            start = end.wrapping_add(1);
        }
        None
    }

    /// The names of all headers, those that are text.
    pub fn names(&self) -> Vec<String> {
        let Some((lengths, mut texts)) = self.parts() else { return Vec::new() };
        let mut names = Vec::new();
        for [name_length, value_length] in lengths {
            let Some((name, rest)) = texts.split_at_checked(name_length) else { break };
            names.extend(std::str::from_utf8(name).map(str::to_owned));
            texts = rest.get(value_length.saturating_add(2)..).unwrap_or_default();
        }
        names
    }

    /// The lengths of each name and value, and the texts of all.
    fn parts(&self) -> Option<(impl Iterator<Item = [usize; 2]>, &[u8])> {
        let (count, rest) = self.0.split_first_chunk::<4>()?;
        let (lengths, texts) = rest.split_at_checked(length(count).checked_mul(8)?)?;
        let lengths = lengths.as_chunks::<8>().0.iter();
        Some((
            lengths.filter_map(|both| Some([length(both.first_chunk()?), length(both.last_chunk()?)])),
            texts,
        ))
    }
}

fn length(bytes: &[u8; 4]) -> usize {
    usize::try_from(u32::from_le_bytes(*bytes)).unwrap_or(usize::MAX)
}
