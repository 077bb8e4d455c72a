//! Spool folders: what is found in them, and what is refused.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::common::example;
use trodden_profile::spool::{Key, VerifyError, WindowName, bytes_in, clear, list, verify};
use trodden_profile::{Profile, facts};

const ID: &str = "0123456789abcdef0123456789abcdef";

fn window(number: u64) -> Profile {
    let mut profile = example();
    profile.run.facts.set(facts::JVM_ID, ID);
    profile.run.facts.set(facts::WINDOW, number);
    profile
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A window under the name of one.
    fn put(&self, name: u64, number: u64) -> PathBuf {
        let name = WindowName {
            jvm_id: ID.to_owned(),
            number: name,
        };
        let path = self.path(&name.to_string());
        fs::write(&path, window(number).to_bytes().unwrap()).unwrap();
        path
    }
}

#[test]
fn windows_are_listed_in_order_and_nothing_else_is() {
    let folder = Folder::new();
    folder.put(10, 10);
    folder.put(9, 9);
    for other in [
        "x.trodden",
        ".trodden-1-0.tmp",
        &format!("{ID}-00000009.trodden.hmac"),
    ] {
        fs::write(folder.path(other), "12345").unwrap();
    }
    fs::create_dir(folder.path("ffffffffffffffffffffffffffffffff-00000001.trodden")).unwrap();
    let windows = list(folder.0.path()).unwrap();
    let numbers: Vec<u64> = windows.iter().map(|window| window.name.number).collect();
    assert_eq!(numbers, [9, 10]);
    assert!(windows[0].hmac().exists() && !windows[1].hmac().exists());
    let sum: u64 = windows.iter().map(|window| window.bytes).sum();
    assert_eq!(bytes_in(folder.0.path()).unwrap(), sum + 3 * 5);
    let error = list(&folder.path("gone")).unwrap_err().to_string();
    assert!(
        error.starts_with("the spool folder ") && error.contains("gone"),
        "{error}"
    );
}

#[test]
fn only_good_windows_are_taken() {
    let folder = Folder::new();
    let file = folder.put(3, 3);
    let good = verify(&file, None).unwrap();
    assert_eq!((good.name.number, &good.profile), (3, &window(3)));
    // Whatever byte is another one, it is found.
    for at in 0..good.bytes.len() {
        let mut bytes = good.bytes.clone();
        bytes[at] ^= 0x10;
        fs::write(&file, &bytes).unwrap();
        assert!(
            matches!(verify(&file, None), Err(VerifyError::Damaged { .. })),
            "byte {at}"
        );
    }
    fs::write(&file, &good.bytes[..good.bytes.len() - 1]).unwrap();
    assert!(matches!(verify(&file, None), Err(VerifyError::Damaged { .. })));
    // A good profile of another name, of no window, or none at all.
    let other = verify(&folder.put(3, 4), None).unwrap_err();
    assert!(
        other
            .to_string()
            .ends_with(&format!("its facts say jvm_id {ID} and window 4")),
        "{other}"
    );
    let plain = folder.path("a.trodden");
    example().save(&plain).unwrap();
    assert!(matches!(verify(&plain, None), Err(VerifyError::Name(_))));
    let gone = folder.path(&format!("{ID}-00000009.trodden"));
    assert!(matches!(verify(&gone, None), Err(VerifyError::Read { .. })));
}

#[test]
fn with_a_key_the_hmac_has_to_be_right() {
    let folder = Folder::new();
    let file = folder.put(1, 1);
    let key = |text: &str| {
        fs::write(folder.path("key"), text).unwrap();
        Key::read(&folder.path("key")).unwrap()
    };
    let (own, other) = (key("0123456789abcdef"), key("0123456789abcdeg"));
    assert!(matches!(
        verify(&file, Some(&own)),
        Err(VerifyError::NoHmac { .. })
    ));
    let hmac = list(folder.0.path()).unwrap()[0].hmac();
    fs::write(hmac, format!("{}\n", own.hmac(&fs::read(&file).unwrap()))).unwrap();
    assert!(verify(&file, Some(&own)).is_ok() && verify(&file, None).is_ok());
    assert!(matches!(
        verify(&file, Some(&other)),
        Err(VerifyError::WrongHmac(_))
    ));
    // Another good profile does not pass with the HMAC of this one.
    let mut profile = window(1);
    profile.run.command = "Other".to_owned();
    fs::write(&file, profile.to_bytes().unwrap()).unwrap();
    assert!(verify(&file, None).is_ok());
    assert!(matches!(
        verify(&file, Some(&own)),
        Err(VerifyError::WrongHmac(_))
    ));
}

#[test]
fn leftovers_are_cleared() {
    let folder = Folder::new();
    let file = folder.put(1, 1);
    let of = |number: u64| format!("{ID}-{number:08}.trodden.hmac");
    for name in [&*of(1), &*of(2), &*of(3), ".trodden-9-0.tmp", "own.hmac"] {
        fs::write(folder.path(name), "x").unwrap();
        if name != of(3) {
            let old = SystemTime::now() - Duration::from_secs(3600);
            fs::File::options()
                .write(true)
                .open(folder.path(name))
                .unwrap()
                .set_modified(old)
                .unwrap();
        }
    }
    // The HMAC of 2 has no window; that of 3 may get one in this moment.
    assert_eq!(clear(folder.0.path()), 2);
    let mut left: Vec<String> = fs::read_dir(folder.0.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    let mut expected = vec![
        file.file_name().unwrap().to_str().unwrap().to_owned(),
        of(1),
        of(3),
        "own.hmac".to_owned(),
    ];
    expected.sort();
    assert_eq!(left, expected);
}
