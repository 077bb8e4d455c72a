//! HotSpot's own counts of branches: merged, refused where they do not fit, never nested.

use crate::common::{profile, two_ifs};
use trodden_profile::{HotSpotBranch, HotSpotMethod, Memory, Profile, merge};

fn method(class: &str, counts: &[(u32, [u64; 2])]) -> HotSpotMethod {
    let branch = |&(block, outcomes): &(u32, [u64; 2])| HotSpotBranch {
        block,
        outcomes: outcomes.to_vec(),
    };
    HotSpotMethod {
        class: class.to_owned(),
        source_file: None,
        map: two_ifs("m", None),
        conditions: Default::default(),
        branches: counts.iter().map(branch).collect(),
    }
}

fn with(hotspot: Vec<HotSpotMethod>) -> Profile {
    Profile {
        hotspot,
        ..profile(Vec::new())
    }
}

#[test]
fn counts_of_the_same_code_are_added_up() {
    let one = with(vec![method("a/B", &[(0, [1, 2])]), method("c/D", &[(3, [5, 0])])]);
    let other = with(vec![method("a/B", &[(0, [10, 20]), (3, [7, 7])])]);
    let expected = vec![
        method("a/B", &[(0, [11, 22]), (3, [7, 7])]),
        method("c/D", &[(3, [5, 0])]),
    ];
    assert_eq!(merge([&one, &other]).unwrap().hotspot, expected);
}

#[test]
fn of_other_code_the_longer_one_is_kept() {
    let one = with(vec![method("a/B", &[(0, [1, 2])])]);
    let mut changed = method("a/B", &[(0, [100, 0])]);
    changed.map.code_length += 1;
    let other = with(vec![changed.clone()]);
    for inputs in [[&one, &other], [&other, &one]] {
        assert_eq!(merge(inputs).unwrap().hotspot, [changed.clone()]);
    }
}

#[test]
fn counts_that_do_not_fit_the_code_are_not_written() {
    // No branch, no block, another number of outcomes, twice.
    let mut three = method("a/B", &[(0, [1, 2])]);
    three.branches[0].outcomes.push(3);
    let wrong = [
        method("a/B", &[(1, [1, 2])]),
        method("a/B", &[(99, [1, 2])]),
        method("a/B", &[(0, [1, 2]), (0, [1, 2])]),
        three,
    ];
    for method in wrong {
        let error = with(vec![method]).to_bytes().unwrap_err().to_string();
        assert!(error.contains("HotSpot"), "{error}");
    }
    let twice = vec![method("a/B", &[]), method("a/B", &[])];
    assert!(with(twice).to_bytes().is_err());
}

#[test]
fn a_memory_holds_none() {
    let memory = Memory {
        found: with(vec![method("a/B", &[(0, [1, 2])])]),
        ..Memory::default()
    };
    let outer = Profile {
        memory: Some(Box::new(memory)),
        ..profile(Vec::new())
    };
    assert!(outer.to_bytes().is_err());
}
