//! The store's packages. Its program takes half an hour to build: a few lines of C replace it, which say
//! how they were called.

use std::fs;
use std::process::Command;

use trodden_tests::{Result, artefacts, process};

use super::{LIMIT, dist_of, have, named, run, unpack};

const STAND_IN: &str = r#"#include <stdio.h>
int main(int count, char **words) {
    for (int at = 0; at < count; at++) {
        printf("%s%s", at ? "|" : "", words[at]);
    }
    puts("");
    return 7;
}
"#;

#[test]
fn the_store_is_found_where_its_packages_put_it() -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let folder = temporary.path().join("artefacts");
    fs::create_dir(&folder)?;
    let made = artefacts::artefacts()?;
    for file in [&made.cli, &made.agent] {
        fs::copy(file, folder.join(file.file_name().ok_or("no name")?))?;
    }
    let source = temporary.path().join("store.c");
    fs::write(&source, STAND_IN)?;
    run(Command::new("cc")
        .arg("-g")
        .arg("-o")
        .arg(folder.join("trodden-store"))
        .arg(&source))?;
    let out = temporary.path().join("out");
    let files = dist_of(&folder, &out, &["--no-maven"])?;
    run(Command::new("sha256sum")
        .args(["--check", "SHA256SUMS"])
        .current_dir(&out))?;
    let architecture = std::env::consts::ARCH;
    let unpacked = temporary.path().join("unpacked");
    unpack(&named(&out, &format!("linux-{architecture}.tar.gz"))?, &unpacked)?;
    let home = unpack(
        &named(&out, &format!("linux-{architecture}-store.tar.gz"))?,
        &unpacked,
    )?;
    assert_eq!(fs::read_dir(&unpacked)?.count(), 1, "both unpack into one folder");
    let licences = fs::read_to_string(home.join("share/doc/trodden-store/THIRD-PARTY"))?;
    assert!(licences.contains("datafusion v"), "{licences}");
    let trodden = |words: &[&str]| {
        let mut command = Command::new(home.join("bin/trodden"));
        process::run(command.args(words).env_remove("TRODDEN_STORE"), LIMIT)
    };
    let store = trodden(&["store", "ls", "--format", "json"])?;
    assert_eq!(
        (store.stdout.as_str(), store.status.code()),
        ("trodden store|ls|--format|json\n", Some(7))
    );
    let ship = trodden(&["ship", "--from", "spool"])?;
    assert_eq!(ship.stdout, "trodden|ship|--from|spool\n");

    if have("dpkg-deb") {
        let is_store = |name: &&String| name.starts_with("trodden-store_") && name.ends_with(".deb");
        let package = out.join(files.keys().find(is_store).ok_or("no package")?);
        let field = |name: &str| run(Command::new("dpkg-deb").arg("--field").arg(&package).arg(name));
        let version = field("Version")?;
        let depends = field("Depends")?;
        assert!(
            depends.contains(&format!("trodden (= {})", version.trim())),
            "{depends}"
        );
        let contents = run(Command::new("dpkg-deb").arg("--contents").arg(&package))?;
        assert!(contents.contains(" ./usr/libexec/trodden-store\n"), "{contents}");
    }

    // Without it, or if it is not there: the rest is packed all the same.
    for (name, more) in [("without", &["--no-store"][..]), ("missing", &[])] {
        if name == "missing" {
            fs::remove_file(folder.join("trodden-store"))?;
        }
        let out = temporary.path().join(name);
        let files = dist_of(&folder, &out, &[&["--no-maven"], more].concat())?;
        named(&out, &format!("linux-{architecture}.tar.gz"))?;
        assert!(
            files.keys().all(|name| !name.contains("store")),
            "{:?}",
            files.keys()
        );
    }
    Ok(())
}
