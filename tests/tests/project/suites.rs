//! The integration tests of a crate are one program, `tests/suite.rs`: it has every file that is there.

use std::fs;
use std::path::Path;

#[test]
fn every_file_of_tests_is_in_its_suite() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut suites = 0;
    for room in fs::read_dir(&root).unwrap().flatten() {
        let folder = room.path().join("tests");
        let Ok(suite) = fs::read_to_string(folder.join("suite.rs")) else {
            continue;
        };
        suites += 1;
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let is_source = path.extension().is_some_and(|end| end == "rs");
            if !is_source && !path.join("mod.rs").exists() {
                continue;
            }
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let line = format!("mod {name};");
            assert!(
                name == "suite" || suite.lines().any(|l| l == line),
                "{}: `{line}` is missing, so that its tests do not run",
                folder.join("suite.rs").display()
            );
        }
    }
    assert!(suites > 5, "{suites} suites");
}
