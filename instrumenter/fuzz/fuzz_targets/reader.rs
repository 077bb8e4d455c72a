//! `round_trip` never panics, and what it writes it can read, with the same result.
//! Run with `cargo +nightly fuzz run reader fuzz/corpus/reader fuzz/seeds`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trodden_instrumenter::round_trip;

fuzz_target!(|bytes: &[u8]| {
    match round_trip(bytes) {
        Ok(once) => {
            let twice = round_trip(&once).expect("what was written can be read");
            assert!(once == twice, "the second round trip differs from the first");
        }
        Err(error) => assert!(error.offset <= bytes.len(), "{error}"),
    }
});
