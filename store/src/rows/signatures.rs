//! Methods by numbers: class, name and descriptor are text once, however many rows speak of them.

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

/// A method's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Signature(u32);

impl Signature {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names of a signature.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Names {
    /// Internal name, with slashes.
    pub class: Arc<str>,
    pub method: Arc<str>,
    pub descriptor: Arc<str>,
}

/// All signatures that were met.
#[derive(Debug, Default)]
pub(crate) struct Signatures(RwLock<Inner>);

#[derive(Debug, Default)]
struct Inner {
    all: Vec<Names>,
    numbers: FxHashMap<Names, Signature>,
}

impl Signatures {
    pub fn number(&self, class: &str, method: &str, descriptor: &str) -> Signature {
        let names = Names {
            class: class.into(),
            method: method.into(),
            descriptor: descriptor.into(),
        };
        let read = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = read.numbers.get(&names) {
            return number;
        }
        drop(read);
        let mut inner = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = inner.numbers.get(&names) {
            return number;
        }
        let number = Signature(inner.all.len() as u32);
        inner.all.push(names.clone());
        inner.numbers.insert(names, number);
        number
    }

    /// The names of all numbers, in the order of the numbers.
    pub fn all(&self) -> Vec<Names> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).all.clone()
    }

    pub fn len(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).all.len()
    }
}

/// Names of methods in a batch, and their alphabetical order.
pub(crate) struct Order {
    pub names: Vec<Names>,
    ranks: Vec<u32>,
}

impl Order {
    pub fn of(signatures: &Signatures) -> Order {
        let names = signatures.all();
        let mut sorted: Vec<u32> = (0..names.len() as u32).collect();
        sorted.sort_unstable_by(|&a, &b| names[a as usize].cmp(&names[b as usize]));
        let mut ranks = vec![0; names.len()];
        for (rank, &number) in sorted.iter().enumerate() {
            ranks[number as usize] = rank as u32;
        }
        Order { names, ranks }
    }

    pub fn rank(&self, signature: Signature) -> u32 {
        self.ranks[signature.index()]
    }

    pub fn names(&self, signature: Signature) -> &Names {
        &self.names[signature.index()]
    }
}
