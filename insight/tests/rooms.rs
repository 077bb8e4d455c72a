//! This crate derives facts and writes none: no format, and no sentence that needs numbers as text.

#[path = "../../tests/rooms/sources.rs"]
mod sources;

use std::path::Path;

#[test]
fn no_circle_of_files_is_larger() {
    sources::check_circles(env!("CARGO_MANIFEST_DIR"), 4);
}

#[test]
fn errors_have_types() {
    sources::check_errors(env!("CARGO_MANIFEST_DIR"), 0);
}

#[test]
fn nothing_writes() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).expect("a manifest");
    for writer in [
        "serde",
        "serde_json",
        "maud",
        "quick-xml",
        "anstyle",
        "prost",
        "trodden-report",
    ] {
        let used = manifest
            .lines()
            .any(|line| line.split(['.', ' ']).next() == Some(writer));
        assert!(!used, "{writer} writes a format");
    }
}
