//! Names of requests, and their numbers in probes.

use std::sync::RwLock;

use rustc_hash::FxHashMap;

use crate::locks::{read, write};

/// All names so far. They are kept as long as the JVM lives: a probe may be in the code for as long.
#[derive(Default)]
pub struct RequestNames(RwLock<Inner>);

#[derive(Default)]
struct Inner {
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
}

impl RequestNames {
    /// Most names. Others share the last one, since a program may make them of its data.
    const MOST: usize = 1_000;
    const OTHERS: &str = "(others)";

    /// The number of a name.
    pub fn number(&self, name: &str) -> u32 {
        if let Some(&known) = read(&self.0).numbers.get(name) {
            return known;
        }
        let mut inner = write(&self.0);
        let name = if inner.names.len() < Self::MOST {
            name
        } else {
            Self::OTHERS
        };
        if let Some(&known) = inner.numbers.get(name) {
            return known;
        }
        let number = inner.names.len() as u32;
        inner.names.push(name.to_owned());
        inner.numbers.insert(name.to_owned(), number);
        number
    }

    /// The name of a number.
    pub fn name(&self, number: u32) -> String {
        let names = &read(&self.0).names;
        let name = names.get(number as usize);
        name.map_or_else(|| Self::OTHERS.to_owned(), Clone::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_a_number_and_there_are_not_too_many() {
        let names = RequestNames::default();
        assert_eq!(["a", "b", "a"].map(|name| names.number(name)), [0, 1, 0]);
        let all: Vec<u32> = (0..5_000).map(|i| names.number(&format!("n{i}"))).collect();
        assert_eq!(names.name(all[0]), "n0");
        assert_eq!(names.name(all[4_999]), RequestNames::OTHERS);
        assert_eq!(all[4_998], all[4_999]);
        assert_eq!(names.number("b"), 1);
    }
}
