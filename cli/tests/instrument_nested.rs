//! `trodden instrument`: archives inside of others take probes where classes are loaded from them, and are
//! copied to the byte where they are data.

use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;
use std::process::Command;

use crate::zips::{File, class, file, zip};
use tempfile::TempDir;
use zip::ZipArchive;

/// Runs it on these inputs; what it reports.
#[track_caller]
fn instrument(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trodden"));
    let output = command
        .current_dir(folder)
        .arg("instrument")
        .args(args)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {printed}");
    printed
}

/// The entries whose contents differ.
fn changed(before: &[u8], after: &[u8]) -> Vec<String> {
    let mut before = ZipArchive::new(Cursor::new(before)).unwrap();
    let mut after = ZipArchive::new(Cursor::new(after)).unwrap();
    let mut changed = Vec::new();
    for index in 0..before.len() {
        let (mut was, mut is) = (Vec::new(), Vec::new());
        let mut entry = before.by_index(index).unwrap();
        entry.read_to_end(&mut was).unwrap();
        let name = entry.name().unwrap().into_owned();
        let mut entry = after.by_name(&name).unwrap();
        entry.read_to_end(&mut is).unwrap();
        if was != is {
            changed.push(name);
        }
    }
    changed
}

/// Instruments these files as an archive of this name; which entries changed, and what was reported.
#[track_caller]
fn archive(name: &str, files: &[File], args: &[&str]) -> (Vec<String>, String) {
    let folder = TempDir::with_prefix("trodden nested ").unwrap();
    let before = zip(files);
    fs::write(folder.path().join(name), &before).unwrap();
    let printed = instrument(folder.path(), &[&[name, "-o", "out"], args].concat());
    (
        changed(&before, &fs::read(folder.path().join("out")).unwrap()),
        printed,
    )
}

fn inner(name: &str) -> File {
    file(name, zip(&[file("a/B.class", class("a/B"))])).stored()
}

fn manifest(class_path: &str) -> File {
    file(
        "META-INF/MANIFEST.MF",
        format!("Manifest-Version: 1.0\r\nClass-Path: {class_path}\r\n\r\n"),
    )
}

#[test]
fn jars_as_data_are_copied_and_listed() {
    let files = [
        manifest("libs/named.jar"),
        file("gen/Main.class", class("gen/Main")),
        inner("templates/gradle-wrapper.jar"),
        inner("lib/templates/x.jar"),
        inner("libs/named.jar"),
        inner("libs/other.jar"),
        inner("lib/a.jar"),
        inner("BOOT-INF/lib/b.jar"),
        inner("WEB-INF/lib/c.jar"),
        inner("APP-INF/lib/d.jar"),
    ];
    let known = [
        "gen/Main.class",
        "libs/named.jar",
        "lib/a.jar",
        "BOOT-INF/lib/b.jar",
        "WEB-INF/lib/c.jar",
        "APP-INF/lib/d.jar",
    ];
    let data = [
        "lib/templates/x.jar",
        "libs/other.jar",
        "templates/gradle-wrapper.jar",
    ];
    for args in [&[][..], &["--nested", "known"]] {
        let (changed, printed) = archive("in.jar", &files, args);
        assert_eq!(changed, known);
        assert!(printed.contains("6 methods in 6 of 6 classes"), "{printed}");
        let listed: String = data.map(|name| format!("\n    in.jar!/{name}")).concat();
        assert!(
            printed.contains(&format!("(--nested all instruments them): 3{listed}\n")),
            "{printed}"
        );
    }
    let (changed, printed) = archive("in.jar", &files, &["--nested", "all"]);
    assert_eq!(changed.len(), 9, "{changed:?}");
    assert!(!printed.contains("copied"), "{printed}");
    let (changed, printed) = archive("in.jar", &files, &["--nested", "none"]);
    assert_eq!(changed, ["gen/Main.class"]);
    assert!(
        printed.contains("copied unchanged (--nested none): 8\n    in.jar!/APP-INF/lib/d.jar\n"),
        "{printed}"
    );
}

#[test]
fn libraries_of_libraries_are_data_and_modules_are_not() {
    // A library does not load from a folder lib of its own; a war does from WEB-INF/lib, an ear from its top.
    let library = zip(&[
        file("a/B.class", class("a/B")),
        inner("lib/x.jar"),
        inner("WEB-INF/lib/y.jar"),
    ]);
    let (changed, printed) = archive("in.jar", &[file("lib/a.jar", library).stored()], &[]);
    assert_eq!(changed, ["lib/a.jar"]);
    assert!(
        printed.contains("in.jar!/lib/a.jar!/WEB-INF/lib/y.jar\n    in.jar!/lib/a.jar!/lib/x.jar"),
        "{printed}"
    );
    assert!(printed.contains("1 methods in 1 of 1 classes"), "{printed}");
    let war = zip(&[
        file("WEB-INF/classes/a/C.class", class("a/C")),
        inner("WEB-INF/lib/a.jar"),
        inner("downloads/b.jar"),
    ]);
    let xml = "<application><module><ejb>beans/e.jar</ejb></module><library-directory>shared</library-directory>\
        </application>";
    let files = [
        file("META-INF/application.xml", xml),
        file("shop.war", war).stored(),
        inner("top.jar"),
        inner("beans/e.jar"),
        inner("beans/data.jar"),
        inner("shared/s.jar"),
    ];
    for name in ["in.ear", "in.jar"] {
        let (changed, printed) = archive(name, &files, &[]);
        assert_eq!(changed, ["shop.war", "top.jar", "beans/e.jar", "shared/s.jar"]);
        assert!(printed.contains("5 methods in 5 of 5 classes"), "{printed}");
        assert!(
            printed.contains(&format!("{name}!/shop.war!/downloads/b.jar")),
            "{printed}"
        );
    }
}

#[test]
fn an_entry_that_is_no_zip_is_copied_and_listed() {
    let files = [
        file("a/B.class", class("a/B")),
        file("lib/placeholder.jar", "not a jar"),
        file("lib/empty.jar", "").stored(),
        inner("lib/x.jar"),
    ];
    let (changed, printed) = archive("in.jar", &files, &[]);
    assert_eq!(changed, ["a/B.class", "lib/x.jar"]);
    let listed = "no zips: 2\n    in.jar!/lib/empty.jar\n    in.jar!/lib/placeholder.jar\n";
    assert!(printed.contains(listed), "{printed}");
}

#[test]
fn jars_among_the_classes_of_a_folder_are_data() {
    let folder = TempDir::with_prefix("trodden nested ").unwrap();
    let jar = zip(&[file("a/B.class", class("a/B"))]);
    let put = |name: &str, bytes: &[u8]| {
        let path = folder.path().join("in").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    put("classes/gen/Main.class", &class("gen/Main"));
    put("classes/templates/wrapper.jar", &jar);
    put("classes/lib/used.jar", &jar);
    put("classes/lib/no.jar", b"no jar");
    put("app.jar", &jar);
    put("plugins/p.jar", &jar);
    let printed = instrument(folder.path(), &["in", "-o", "out"]);
    let same = |name: &str| fs::read(folder.path().join("out").join(name)).unwrap() == jar;
    assert!(same("classes/templates/wrapper.jar"), "{printed}");
    for name in ["classes/lib/used.jar", "app.jar", "plugins/p.jar"] {
        assert!(!same(name), "{name}: {printed}");
    }
    assert!(
        printed.contains(": 1\n    in/classes/templates/wrapper.jar"),
        "{printed}"
    );
    assert!(
        printed.contains("no zips: 1\n    in/classes/lib/no.jar"),
        "{printed}"
    );
}

#[test]
fn a_word_that_is_none_is_refused_with_the_nearest() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trodden"));
    command.args(["instrument", "in.jar", "-o", "out.jar", "--nested", "knwon"]);
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        printed.contains("all, known, none") && printed.contains("'known'"),
        "{printed}"
    );
}
