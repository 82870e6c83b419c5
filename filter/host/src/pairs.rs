//! Headers as the ABI of proxy-wasm lays them out: their number, the lengths of each name and value, then each name and value with a
//! zero behind it.

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

    /// Gives the values of a header until one is taken.
    fn find<'h, T>(&'h self, name: &str, mut take: impl FnMut(&'h [u8]) -> Option<T>) -> Option<T> {
        self.each(|known, value| if known == name.as_bytes() { take(value) } else { None })
    }

    /// The names of all headers, those that are text.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.each(|name, _| {
            names.extend(std::str::from_utf8(name).map(str::to_owned));
            None::<()>
        });
        names
    }

    /// Gives all headers until one is taken.
    fn each<'h, T>(&'h self, mut take: impl FnMut(&'h [u8], &'h [u8]) -> Option<T>) -> Option<T> {
        let (count, rest) = self.0.split_first_chunk::<4>()?;
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let (lengths, mut texts) = rest.split_at_checked(count.checked_mul(8)?)?;
        for lengths in lengths.as_chunks::<8>().0 {
            let (name_length, value_length) = lengths.split_first_chunk::<4>()?;
            let length = |bytes: &[u8; 4]| usize::try_from(u32::from_le_bytes(*bytes)).ok();
            let (name_length, value_length) =
                (length(name_length)?, length(value_length.first_chunk::<4>()?)?);
            let (known, rest) = texts.split_at_checked(name_length)?;
            let (value, rest) = rest.get(1..)?.split_at_checked(value_length)?;
            if let Some(taken) = take(known, value) {
                return Some(taken);
            }
            texts = rest.get(1..)?;
        }
        None
    }
}
