//! Tables of strings that messages refer to by number.

use std::collections::HashMap;

/// Each string once; the first is empty.
pub(super) struct Strings<'s> {
    all: Vec<String>,
    numbers: HashMap<&'s str, i32>,
}

impl<'s> Strings<'s> {
    /// With the empty string only.
    pub fn new() -> Self {
        Strings {
            all: vec![String::new()],
            numbers: HashMap::from([("", 0)]),
        }
    }

    /// A string's number.
    pub fn number(&mut self, text: &'s str) -> i32 {
        let next = self.all.len() as i32;
        *self.numbers.entry(text).or_insert_with(|| {
            self.all.push(text.to_owned());
            next
        })
    }

    /// All of them, by number.
    pub fn into_table(self) -> Vec<String> {
        self.all
    }
}
