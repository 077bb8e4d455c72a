//! Files of this crate can be read one after the other.

#[path = "../../tests/rooms/sources.rs"]
mod sources;

#[test]
fn no_circle_of_files_is_larger() {
    sources::check_circles(env!("CARGO_MANIFEST_DIR"), 4);
}

#[test]
fn errors_have_types() {
    sources::check_errors(env!("CARGO_MANIFEST_DIR"), 0);
}
