//! Any bytes: an error or a profile, never a panic. A profile that was read can be described, compared and merged
//! with itself, and is the same after writing and reading it again.
//!
//! Run: `cargo +nightly fuzz run read` in `profile/`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trodden_profile::{AccuracyOptions, EdgeProfile, Profile, compare, merge};

/// Makes checksums of plainly stored sections right, so that mutations get past them.
fn mend(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut at = 10;
    while let Some(header) = out.get(at..at + 17) {
        let stored = u32::from_le_bytes([header[5], header[6], header[7], header[8]]) as usize;
        let end = at.saturating_add(17).saturating_add(stored);
        let Some(body) = out.get(at + 17..end) else { break };
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header[..13]);
        crc.update(body);
        let crc = crc.finalize().to_le_bytes();
        out[at + 13..at + 17].copy_from_slice(&crc);
        at = end;
    }
    out
}

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
                    assert_eq!(Ok(path.branches()), map.branches_on(number));
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
