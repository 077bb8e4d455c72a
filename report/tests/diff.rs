//! `trodden diff` on profiles made by hand, whole and damaged.

mod common;

use std::sync::Arc;

use common::Random;
use trodden_profile::Profile;
use trodden_report::{Diff, DiffError, DiffOptions, DiffSources};

fn options() -> DiffOptions {
    DiffOptions {
        threshold: 0.0,
        ..DiffOptions::default()
    }
}

fn all_formats(diff: &Diff) -> [String; 4] {
    let sources = DiffSources::new(&[]);
    [
        diff.text(&sources, false),
        diff.json().unwrap(),
        diff.markdown(&sources),
        diff.html(&sources),
    ]
}

#[test]
fn a_profile_does_not_differ_from_itself() {
    let profile = common::profile();
    let diff = Diff::new(&profile, &profile, &options()).unwrap();
    assert!(diff.methods.is_empty(), "{:?}", diff.methods);
    assert_eq!(diff.summary.work[0], diff.summary.work[1]);
}

#[test]
fn twice_the_work_is_no_difference() {
    let once = common::profile();
    let mut twice = once.clone();
    for counts in twice.classes.iter_mut().flat_map(|c| &mut c.counts) {
        counts.paths.values_mut().for_each(|n| *n *= 2);
        counts.partial.values_mut().for_each(|n| *n *= 2);
    }
    let diff = Diff::new(&once, &twice, &options()).unwrap();
    assert!(diff.methods.is_empty(), "{:?}", diff.methods);
    assert_eq!(diff.summary.scale, 2.0);
}

#[test]
fn nothing_to_compare_is_an_error() {
    let error = Diff::new(&common::profile(), &Profile::default(), &options()).unwrap_err();
    assert!(
        matches!(error, DiffError::NoPaths { which: "second", .. }),
        "{error}"
    );
}

#[test]
fn odd_counts_and_names_never_panic() {
    let profile = common::profile();
    let names = [
        "<script>alert(1)</script>",
        "a\u{1b}[2Jb",
        "\u{202e}evil",
        "",
        "lambda$x$1",
        "lambda$",
    ];
    let mut random = Random(7);
    for _ in 0..2_000 {
        let mut other = profile.clone();
        for class in &mut other.classes {
            let map = Arc::make_mut(&mut class.map);
            for (method, counts) in map.methods.iter_mut().zip(&mut class.counts) {
                match random.below(6) {
                    0 => method.name = names[random.below(6) as usize].to_owned(),
                    1 => {
                        counts.paths.insert(random.below(100), u64::MAX);
                    }
                    2 => counts.paths.values_mut().for_each(|n| *n = random.below(1 << 30)),
                    3 => counts.paths.clear(),
                    4 => {
                        counts
                            .partial
                            .insert((random.below(20) as u32, random.below(20)), random.below(1 << 40));
                    }
                    _ => {}
                }
            }
            if random.below(10) == 0 {
                map.name = names[random.below(6) as usize].to_owned();
            }
        }
        other.run.exact = random.below(2) == 0;
        let (before, after) = match random.below(2) {
            0 => (&profile, &other),
            _ => (&other, &profile),
        };
        match Diff::new(before, after, &options()) {
            Ok(diff) => {
                for text in all_formats(&diff) {
                    assert!(!text.contains('\u{1b}'), "{text}");
                }
            }
            Err(DiffError::NoPaths { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}
