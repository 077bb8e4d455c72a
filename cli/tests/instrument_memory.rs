//! `trodden instrument`: what it keeps in memory does not grow with the input.

use std::fs;
use std::process::Command;

use crate::zips::{class, file, zip};
use tempfile::TempDir;
use trodden_profile::Profile;

/// Archives inside of the input.
const LIBRARIES: usize = 30;
/// Bytes in each of them.
const LENGTH: usize = 4 << 20;
/// Kilobytes that the command may have: for some of the archives, and far from all.
const LIMIT: usize = 12 * (LENGTH >> 10);

#[test]
fn a_fat_jar_needs_no_more_than_its_largest_libraries() {
    let folder = TempDir::with_prefix("trodden memory ").unwrap();
    let data: Vec<u8> = (0..LENGTH as u32)
        .map(|n| (n.wrapping_mul(0x9e37_79b9) >> 13) as u8)
        .collect();
    let mut files = vec![file("app/Main.class", class("app/Main"))];
    for n in 0..LIBRARIES {
        let name = format!("lib{n}/A");
        let library = [
            file(&format!("{name}.class"), class(&name)),
            file("data.bin", data.clone()).stored(),
        ];
        files.push(file(&format!("BOOT-INF/lib/{n}.jar"), zip(&library)).stored());
    }
    fs::write(folder.path().join("in.jar"), zip(&files)).unwrap();
    let mut shell = Command::new("bash");
    shell.current_dir(folder.path()).env("RAYON_NUM_THREADS", "2");
    let text = format!("ulimit -d {LIMIT}; exec \"$0\" instrument in.jar -o out.jar --probe counters");
    shell.args(["-c", &text, env!("CARGO_BIN_EXE_trodden")]);
    let output = shell.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("31 methods in 31 of 31 classes"), "{printed}");
    let map = Profile::load(folder.path().join("out.jar.map.trodden")).unwrap();
    assert_eq!(map.classes.len(), LIBRARIES + 1);
    let out = fs::metadata(folder.path().join("out.jar")).unwrap();
    assert!(out.len() > (LIBRARIES * LENGTH) as u64);
}
