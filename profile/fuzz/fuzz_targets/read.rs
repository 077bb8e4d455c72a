//! Any bytes: an error or a profile, never a panic. A profile that was read can be described, compared and merged
//! with itself, and is the same after writing and reading it again.
//!
//! Run: `cargo +nightly fuzz run read` in `profile/`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trodden_profile::{AccuracyOptions, EdgeProfile, Profile, compare, merge};
use trodden_profile_fuzz::mend;

fn check(bytes: &[u8]) {
    let Ok(profile) = Profile::read(bytes) else { return };
    for class in &profile.classes {
        for (map, counts) in class.map.methods.iter().zip(&class.counts) {
            for number in counts
                .paths
                .keys()
                .chain(&map.unobserved)
                .copied()
                .chain(0..map.num_paths().min(64))
            {
                if let Ok(path) = map.describe(number) {
                    assert_eq!(Ok(path.branches), map.branches_on(number));
                }
            }
            let _ = EdgeProfile::of(map, counts).branches(map);
        }
    }
    let written = profile.to_bytes().expect("what was read can be written");
    assert_eq!(Profile::read(&written).as_ref(), Ok(&profile));
    let _ = compare(&profile, &profile, &AccuracyOptions::default());
    let _ = merge([&profile, &profile]).map(|merged| merged.to_bytes());
}

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    check(&mend(bytes));
});
