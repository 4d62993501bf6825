//! Many short lists in one allocation.
//!
//! A document can have a hundred thousand planes and phrases; a vector for each would need more
//! memory than its items.

/// Lists by number.
#[derive(Debug)]
pub(crate) struct Rows<T> {
    flat: Vec<T>,
    /// The end of each row in `flat`.
    ends: Vec<usize>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self {
            flat: Vec::new(),
            ends: Vec::new(),
        }
    }
}

impl<T: Copy> Rows<T> {
    /// Appends a row.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = T>) {
        self.flat.extend(row);
        self.ends.push(self.flat.len());
    }

    /// Groups items into `count` rows by number. Items of a row keep their order.
    pub(crate) fn sorted(count: usize, mut items: Vec<(u32, T)>) -> Self {
        items.sort_by_key(|item| item.0);
        let mut rows = Self::default();
        let mut rest = items.as_slice();
        for number in 0..count {
            let length = rest
                .iter()
                .take_while(|item| item.0 as usize == number)
                .count();
            let (row, after) = rest.split_at(length);
            rows.push(row.iter().map(|item| item.1));
            rest = after;
        }
        rows
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The row with this number; empty if there is none.
    pub(crate) fn row(&self, number: u32) -> &[T] {
        let number = number as usize;
        let Some(&end) = self.ends.get(number) else {
            return &[];
        };
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.flat[start..end]
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    fn rows_keep_their_items_in_order() {
        let rows = Rows::sorted(4, vec![(2, 'a'), (0, 'b'), (2, 'c')]);
        let shown: Vec<_> = (0..5).map(|number| rows.row(number)).collect();
        let expected: [&[char]; 5] = [&['b'], &[], &['a', 'c'], &[], &[]];
        assert_eq!((rows.len(), shown.as_slice()), (4, expected.as_slice()));
    }
}
