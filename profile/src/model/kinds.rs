//! The list of all kinds of data. File, checks, merge and difference go through it and know no kind by name.

use crate::model::section::Section;
use crate::model::{
    by_test, conditions, contexts, coverage, cpu, hotspot, inlining, kpaths, memory, observations, requests,
    shapes, structural, subpaths,
};

/// All kinds, in the order in which a file has them.
pub(crate) const KINDS: [&dyn Section; 14] = [
    &shapes::section::Kind,
    &inlining::section::Kind,
    &kpaths::section::Kind,
    &observations::section::Kind,
    &contexts::section::Kind,
    &subpaths::section::Kind,
    &structural::section::Kind,
    &conditions::section::Kind,
    &cpu::section::Kind,
    &memory::section::Kind,
    &by_test::section::Kind,
    &coverage::section::Kind,
    &hotspot::section::Kind,
    &requests::section::Kind,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::codec::Tag;

    #[test]
    fn each_tag_belongs_to_one_kind_and_may_be_ignored() {
        let mut tags: Vec<Tag> = KINDS.iter().flat_map(|kind| kind.tags()).copied().collect();
        assert!(tags.iter().all(|tag| tag[0].is_ascii_lowercase()), "{tags:?}");
        let all = tags.len();
        tags.sort_unstable();
        tags.dedup();
        assert_eq!(tags.len(), all, "{tags:?}");
    }
}
