//! A small table with numbers as keys. It is sorted, so that it takes little code.

#[derive(Clone, Debug)]
pub struct ByKey<T>(Vec<(u64, T)>);

impl<T> Default for ByKey<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByKey<T> {
    fn place(&self, key: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&key, |(known, _)| *known)
    }

    pub fn get(&self, key: u64) -> Option<&T> {
        let (_, value) = self.0.get(self.place(key).ok()?)?;
        Some(value)
    }

    #[inline(never)]
    pub fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        let place = self.place(key).ok()?;
        let (_, value) = self.0.get_mut(place)?;
        Some(value)
    }

    #[inline(never)]
    pub fn insert(&mut self, key: u64, value: T) {
        match self.place(key) {
            Ok(place) => {
                if let Some((_, known)) = self.0.get_mut(place) {
                    *known = value;
                }
            }
            Err(place) => self.0.insert(place, (key, value)),
        }
    }

    #[inline(never)]
    pub fn remove(&mut self, key: u64) -> Option<T> {
        let place = self.place(key).ok()?;
        let (_, value) = self.0.remove(place);
        Some(value)
    }

    /// Makes room for one more entry: removes all of them if there are `most` or more.
    pub fn keep_below(&mut self, most: usize) {
        if self.0.len() >= most {
            self.0.clear();
        }
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_one_value_for_each_key() {
        let mut table = ByKey::default();
        for key in [5, 1, 9, 5] {
            table.insert(key, key * 10);
        }
        assert_eq!((table.len(), table.get(5), table.get(2)), (3, Some(&50), None));
        assert_eq!(table.values().copied().collect::<Vec<_>>(), [10, 50, 90]);
        *table.get_mut(9).unwrap() = 7;
        assert_eq!((table.remove(9), table.remove(9)), (Some(7), None));
        table.keep_below(3);
        assert_eq!(table.len(), 2);
        table.keep_below(2);
        assert_eq!(table.len(), 0);
    }
}
