//! `trodden store` and `trodden ship` hand everything to another program.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use assert_cmd::Command;
use predicates::str::contains;
use tempfile::TempDir;

/// A program that says how it was called.
fn with_program(folder: &TempDir) -> Command {
    let program = folder.path().join("other");
    fs::write(&program, "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 3\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_trodden"));
    command.env("TRODDEN_STORE", program);
    command
}

#[test]
fn words_and_exit_code_are_handed_on() {
    let folder = TempDir::new().unwrap();
    let words = ["add", "--service=a b", "store", "--", "-x", "--help"];
    let called = with_program(&folder).arg("store").args(words).assert();
    called
        .code(3)
        .stdout("<add><--service=a b><store><--><-x><--help>");
    let called = with_program(&folder).args(["ship", "--once", "spool"]).assert();
    called.code(3).stdout("<ship><--once><spool>");
    let called = with_program(&folder).args(["store", "--help"]).assert();
    called.code(3).stdout("<--help>");
}

#[test]
fn a_program_that_is_not_there() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trodden"));
    let called = command
        .env("TRODDEN_STORE", "/nowhere/at/all")
        .args(["store", "ls", "x"])
        .assert();
    called
        .code(1)
        .stderr(contains("TRODDEN_STORE: /nowhere/at/all is not a file"));
    // Next to a copy of trodden, where nothing else is.
    let folder = TempDir::new().unwrap();
    let copy = folder.path().join("trodden");
    fs::copy(env!("CARGO_BIN_EXE_trodden"), &copy).unwrap();
    let called = Command::new(&copy)
        .env_remove("TRODDEN_STORE")
        .args(["ship", "spool"])
        .assert();
    called.code(1).stderr(contains("trodden-store is not installed"));
}
