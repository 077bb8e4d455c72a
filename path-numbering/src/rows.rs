//! A table of rows of different lengths in two flat arrays.

use std::ops::{Index, IndexMut};

/// One row per block (of edges, values, …), all in one piece of memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rows<T> {
    /// Where each row begins in `items`, and where the last one ends.
    first: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Rows {
            first: vec![0],
            items: Vec::new(),
        }
    }
}

impl<T> Rows<T> {
    /// No rows yet, memory for some.
    pub fn with_capacity(rows: usize, items: usize) -> Self {
        let mut first = Vec::with_capacity(rows + 1);
        first.push(0);
        Rows {
            first,
            items: Vec::with_capacity(items),
        }
    }

    /// Adds an item to the row that [`Rows::end_row`] will end.
    pub fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Ends a row: what was pushed since the last one.
    pub fn end_row(&mut self) {
        self.first.push(self.items.len() as u32);
    }

    /// Gives back the memory that is not used.
    pub fn shrink_to_fit(&mut self) {
        self.first.shrink_to_fit();
        self.items.shrink_to_fit();
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row, if there is one of that number.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&[T]> {
        let to = *self.first.get(row + 1)?;
        self.items.get(self.first[row] as usize..to as usize)
    }

    /// A row to change, if there is one of that number.
    pub fn get_mut(&mut self, row: usize) -> Option<&mut [T]> {
        let to = *self.first.get(row + 1)?;
        self.items.get_mut(self.first[row] as usize..to as usize)
    }

    /// All rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[T]> + Clone {
        self.first
            .windows(2)
            .map(|ends| &self.items[ends[0] as usize..ends[1] as usize])
    }

    /// Position of a row's first item among all items.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn first(&self, row: usize) -> usize {
        self.first[row] as usize
    }

    /// The items of all rows, row by row.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Rows of these lengths, filled with default values.
    pub fn zeroed(rows: usize, len: impl Fn(usize) -> usize) -> Self
    where
        T: Clone + Default,
    {
        let mut first = Vec::with_capacity(rows + 1);
        first.push(0);
        let mut sum = 0;
        first.extend((0..rows).map(|row| {
            sum += len(row) as u32;
            sum
        }));
        Rows {
            first,
            items: vec![T::default(); sum as usize],
        }
    }

    /// Forgets all rows but keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.first.truncate(1);
        self.items.clear();
    }

    /// Groups items by row: `pairs` gives (row, item), twice the same. Within a row they keep their order.
    pub(crate) fn group(&mut self, rows: usize, pairs: impl Iterator<Item = (usize, T)> + Clone)
    where
        T: Copy + Default,
    {
        // The count of row r is made at r + 2, so that after summing up the start of r is at r + 1, moves
        // on as the row is filled, and ends where r + 1 starts.
        self.first.clear();
        self.first.resize(rows + 2, 0);
        for (row, _) in pairs.clone() {
            self.first[row + 2] += 1;
        }
        let mut sum = 0;
        for first in &mut self.first[2..] {
            sum += *first;
            *first = sum;
        }
        self.items.clear();
        self.items.resize(sum as usize, T::default());
        for (row, item) in pairs {
            let at = &mut self.first[row + 1];
            self.items[*at as usize] = item;
            *at += 1;
        }
        self.first.pop();
    }
}

impl<T> From<Vec<Vec<T>>> for Rows<T> {
    fn from(rows: Vec<Vec<T>>) -> Self {
        let mut table = Rows::with_capacity(rows.len(), rows.iter().map(Vec::len).sum());
        for row in rows {
            table.items.extend(row);
            table.end_row();
        }
        table
    }
}

impl<T> Index<usize> for Rows<T> {
    type Output = [T];

    #[inline]
    fn index(&self, row: usize) -> &[T] {
        &self.items[self.first[row] as usize..self.first[row + 1] as usize]
    }
}

impl<T> IndexMut<usize> for Rows<T> {
    fn index_mut(&mut self, row: usize) -> &mut [T] {
        &mut self.items[self.first[row] as usize..self.first[row + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_from_lists() {
        let rows = Rows::from(vec![vec![1, 2], vec![], vec![3]]);
        assert_eq!(rows.len(), 3);
        assert_eq!((&rows[0], &rows[1], &rows[2]), (&[1, 2][..], &[][..], &[3][..]));
        assert_eq!(rows.get(3), None);
        assert_eq!((rows.first(1), rows.first(2)), (2, 2));
    }

    #[test]
    fn grouped_in_order() {
        let mut rows = Rows::default();
        let pairs = [(2, 'a'), (0, 'b'), (2, 'c'), (0, 'd')];
        rows.group(4, pairs.into_iter());
        assert_eq!(
            rows,
            Rows::from(vec![vec!['b', 'd'], vec![], vec!['a', 'c'], vec![]])
        );
        rows.group(1, pairs[..0].iter().copied());
        assert_eq!(rows, Rows::from(vec![vec![]]));
    }
}
