//! Formats and comparison know no kind of data by name: a new kind is a folder and a line in the list.

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
fn formats_and_compare_name_no_kind() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = |file: &Path| std::fs::read_to_string(file).expect("a source file");
    let registry = read(&source.join("kinds.rs"));
    let list = registry.split("KINDS: ").nth(1).expect("the list of kinds");
    let kinds: Vec<&str> = list
        .split(';')
        .take(2)
        .flat_map(|part| part.split(['&', ' ', '[', ']', ',']))
        .filter_map(|word| word.strip_suffix("::section::Kind"))
        .collect();
    assert!(kinds.contains(&"kpaths") && kinds.len() >= 4, "{kinds:?}");
    for file in [
        "json.rs",
        "json/path.rs",
        "html.rs",
        "text.rs",
        "dot.rs",
        "svg.rs",
        "compare/paths.rs",
        "../../cli/src/compare.rs",
    ] {
        let all = read(&source.join(file));
        let code = all.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            let line = line.split("//").next().unwrap_or_default();
            let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let named = words.find(|word| kinds.contains(word));
            assert_eq!(named, None, "{file}:{}", number + 1);
        }
    }
}
