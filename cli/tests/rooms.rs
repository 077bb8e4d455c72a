//! Files of this crate can be read one after the other.

#[path = "../../tests/rooms/sources.rs"]
#[expect(dead_code, reason = "errors of a program are texts in the end")]
mod sources;

#[test]
fn no_circle_of_files_is_larger() {
    sources::check_circles(env!("CARGO_MANIFEST_DIR"), 4);
}
