//! Inlined code in files, merged profiles and printable ones.

use std::sync::Arc;

use crate::common::*;
use trodden_profile::{InlinedCode, LineEntry, MethodMap, Profile, merge};

fn piece(start: u32, end: u32, file: &str) -> InlinedCode {
    InlinedCode {
        start,
        end,
        line: 865,
        file: file.into(),
        class: "kotlin/Collections".into(),
    }
}

fn with(inlined: Vec<InlinedCode>) -> Profile {
    let mut map = two_ifs("run", None);
    map.inlined = inlined;
    profile(vec![class("A", 1, vec![(map, paths(&[(0, 3)]))])])
}

fn method(profile: &Profile) -> &MethodMap {
    &profile.classes[0].map.methods[0]
}

#[test]
fn files_hold_it() {
    let profile = with(vec![piece(10, 30, "A.kt"), piece(30, 40, "B.kt")]);
    let bytes = profile.to_bytes().unwrap();
    assert_eq!(Profile::read(&bytes).unwrap(), profile);
    let at = |bci| method(&profile).inlined_at(bci).map(|piece| &*piece.file);
    let found = [9, 10, 29, 30, 39, 40].map(at);
    assert_eq!(
        found,
        [None, Some("A.kt"), Some("A.kt"), Some("B.kt"), Some("B.kt"), None]
    );
}

#[test]
fn pieces_are_in_order_and_in_the_code() {
    let bad = [
        vec![piece(10, 10, "A.kt")],
        vec![piece(20, 30, "A.kt"), piece(10, 20, "A.kt")],
        vec![piece(20, 30, "A.kt"), piece(29, 40, "A.kt")],
        vec![piece(20, 71, "A.kt")],
    ];
    for pieces in bad {
        let problem = with(pieces.clone()).to_bytes().unwrap_err().to_string();
        assert!(
            problem.contains("pieces of inlined code are not of the method"),
            "{pieces:?}: {problem}"
        );
    }
}

#[test]
fn it_goes_with_the_lines_that_are_kept() {
    let new = with(vec![piece(10, 30, "A.kt")]);
    // An older version had lines behind the end of the file there.
    let mut old = with(Vec::new());
    let map = Arc::make_mut(&mut old.classes[0].map);
    map.methods[0].lines[1] = LineEntry { bci: 10, line: 900 };
    for both in [[&new, &old], [&old, &new]] {
        let merged = merge(both).unwrap();
        assert_eq!(method(&merged).inlined, method(&new).inlined);
        assert_eq!(method(&merged).lines, method(&new).lines);
    }
}

#[test]
fn names_become_printable() {
    let mut profile = with(vec![piece(10, 30, "A\u{1b}.kt")]);
    let map = &mut profile.classes[0].map;
    let printed = map.printable().into_owned();
    assert_eq!(&*printed.methods[0].inlined[0].file, "A\\u001b.kt");
}
