//! Tables of strings that messages refer to by number.

use std::collections::HashMap;

/// Each string once, by number from 0.
#[derive(Default)]
pub(super) struct Strings {
    all: Vec<String>,
    numbers: HashMap<String, i32>,
}

impl Strings {
    /// With the empty string, whose number is 0.
    pub fn with_empty() -> Self {
        let mut strings = Strings::default();
        strings.number("");
        strings
    }

    /// A string's number.
    pub fn number(&mut self, text: &str) -> i32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let next = self.all.len() as i32;
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), next);
        next
    }

    /// All of them, by number.
    pub fn all(&self) -> &[String] {
        &self.all
    }

    /// All of them, by number.
    pub fn into_table(self) -> Vec<String> {
        self.all
    }
}
