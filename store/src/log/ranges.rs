//! Which windows a store has.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Numbers of windows, as ranges: `[[1, 5], [7, 7]]`, both ends included, in order, with gaps between them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Returns true if this number is in one of them.
    pub fn contains(&self, number: u64) -> bool {
        let after = self.0.partition_point(|&(from, _)| from <= number);
        after > 0 && self.0[after - 1].1 >= number
    }

    /// Adds a number; returns true if it was new.
    pub fn insert(&mut self, number: u64) -> bool {
        if self.contains(number) {
            return false;
        }
        let at = self.0.partition_point(|&(from, _)| from <= number);
        let joins_before = at > 0 && self.0[at - 1].1.checked_add(1) == Some(number);
        let joins_after = self
            .0
            .get(at)
            .is_some_and(|next| number.checked_add(1) == Some(next.0));
        match (joins_before, joins_after) {
            (true, true) => {
                self.0[at - 1].1 = self.0[at].1;
                self.0.remove(at);
            }
            (true, false) => self.0[at - 1].1 = number,
            (false, true) => self.0[at].0 = number,
            (false, false) => self.0.insert(at, (number, number)),
        }
        true
    }

    /// Adds those of others.
    pub fn add(&mut self, other: &Ranges) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        let mut all: Vec<(u64, u64)> = self.0.iter().chain(&other.0).copied().collect();
        all.sort_unstable();
        self.0.clear();
        for (from, to) in all {
            match self.0.last_mut() {
                Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
                _ => self.0.push((from, to)),
            }
        }
    }

    /// First and last number of each.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// First and last number of what is missing from 1 up to the greatest one.
    pub fn gaps(&self) -> impl Iterator<Item = (u64, u64)> {
        let ends = std::iter::once(0).chain(self.0.iter().map(|&(_, to)| to));
        let between = ends
            .zip(&self.0)
            .map(|(end, &(from, _))| (end.saturating_add(1), from.saturating_sub(1)));
        between.filter(|(from, to)| from <= to)
    }

    /// How many numbers.
    pub fn len(&self) -> u64 {
        self.0.iter().fold(0, |sum, (from, to)| {
            sum.saturating_add((to - from).saturating_add(1))
        })
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A number that both have.
    pub fn shared(&self, other: &Ranges) -> Option<u64> {
        let (mut own, mut others) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(a), Some(b)) = (own.peek(), others.peek()) {
            if a.0.max(b.0) <= a.1.min(b.1) {
                return Some(a.0.max(b.0));
            }
            if a.1 < b.1 {
                own.next()
            } else {
                others.next()
            };
        }
        None
    }
}

/// Ranges overlap, touch, or are not in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ranges of windows are not in order")]
pub struct OutOfOrder;

impl TryFrom<Vec<(u64, u64)>> for Ranges {
    type Error = OutOfOrder;

    fn try_from(ranges: Vec<(u64, u64)>) -> Result<Self, OutOfOrder> {
        let upright = ranges.iter().all(|(from, to)| from <= to);
        if upright && ranges.is_sorted_by(|a, b| a.1 < b.0) {
            Ok(Ranges(ranges))
        } else {
            Err(OutOfOrder)
        }
    }
}

impl From<Ranges> for Vec<(u64, u64)> {
    fn from(ranges: Ranges) -> Self {
        ranges.0
    }
}

/// Windows by their JVMs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Windows(BTreeMap<String, Ranges>);

impl Windows {
    /// Returns true if it is there.
    pub fn contains(&self, jvm: &str, window: u64) -> bool {
        self.0.get(jvm).is_some_and(|ranges| ranges.contains(window))
    }

    /// Adds a window; returns true if it was new.
    pub fn insert(&mut self, jvm: &str, window: u64) -> bool {
        match self.0.get_mut(jvm) {
            Some(ranges) => ranges.insert(window),
            None => self.0.entry(jvm.to_owned()).or_default().insert(window),
        }
    }

    /// Adds those of others.
    pub fn add(&mut self, other: &Windows) {
        for (jvm, ranges) in &other.0 {
            match self.0.get_mut(jvm) {
                Some(own) => own.add(ranges),
                None => {
                    self.0.insert(jvm.clone(), ranges.clone());
                }
            }
        }
    }

    /// A window that both have.
    pub fn shared(&self, other: &Windows) -> Option<(&str, u64)> {
        let mut own = self.0.iter();
        own.find_map(|(jvm, ranges)| Some((jvm.as_str(), ranges.shared(other.0.get(jvm)?)?)))
    }

    /// All of them, by JVM.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Ranges)> {
        self.0.iter().map(|(jvm, ranges)| (jvm.as_str(), ranges))
    }

    /// How many windows.
    pub fn len(&self) -> u64 {
        self.0
            .values()
            .fold(0, |sum, ranges| sum.saturating_add(ranges.len()))
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_are_sets(a in prop::collection::vec(0u64..60, 0..40), b in prop::collection::vec(0u64..60, 0..40)) {
            let ranges = |numbers: &[u64]| {
                let mut ranges = Ranges::default();
                let mut set = BTreeSet::new();
                for &number in numbers {
                    assert_eq!(ranges.insert(number), set.insert(number));
                }
                (ranges, set)
            };
            let ((mut one, mut set), (other, others)) = (ranges(&a), ranges(&b));
            prop_assert_eq!(one.shared(&other).is_some(), !set.is_disjoint(&others));
            if let Some(both) = one.shared(&other) {
                prop_assert!(set.contains(&both) && others.contains(&both));
            }
            one.add(&other);
            set.extend(others);
            prop_assert_eq!(one.len(), set.len() as u64);
            let gaps: Vec<u64> = one.gaps().flat_map(|(from, to)| from..=to).collect();
            let most = set.last().copied().unwrap_or(0);
            prop_assert_eq!(gaps, (1..most).filter(|number| !set.contains(number)).collect::<Vec<_>>());
            prop_assert!((0..70).all(|number| one.contains(number) == set.contains(&number)));
            let text = serde_json::to_string(&one).unwrap();
            prop_assert_eq!(serde_json::from_str::<Ranges>(&text).unwrap(), one);
        }
    }

    #[test]
    fn damaged_ranges_are_refused() {
        for text in ["[[2,1]]", "[[1,3],[3,4]]", "[[5,6],[1,2]]"] {
            assert!(serde_json::from_str::<Ranges>(text).is_err(), "{text}");
        }
        let all: Ranges = serde_json::from_str("[[0,18446744073709551615]]").unwrap();
        assert_eq!(all.len(), u64::MAX);
        assert!(all.contains(u64::MAX));
    }
}
