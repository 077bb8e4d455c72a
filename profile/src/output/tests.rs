use std::fs::{self, OpenOptions, Permissions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, FileType, FlockOperation, Mode, makedev, mknodat};
use tempfile::TempDir;

use super::*;
use crate::Profile;

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn clear(folder: &TempDir) -> Leftovers {
    clear_leftovers(folder.path(), |file| Profile::load(file).is_ok())
}

/// Makes a file look as if it had been there for a while.
fn age(path: &Path) {
    let then = SystemTime::now() - Duration::from_secs(3600);
    File::open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn links_are_followed_and_permissions_kept() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("far")).unwrap();
    fs::write(at("far/target"), "old").unwrap();
    fs::set_permissions(at("far/target"), Permissions::from_mode(0o640)).unwrap();
    symlink("far/target", at("near")).unwrap();
    symlink(at("near"), at("link")).unwrap();
    let before = fs::metadata(at("far/target")).unwrap().ino();
    write(&at("link"), b"new").unwrap();
    assert_eq!(fs::read(at("far/target")).unwrap(), b"new");
    assert_eq!(mode(&at("far/target")), 0o640);
    assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    assert!(fs::symlink_metadata(at("near")).unwrap().is_symlink());
    assert_ne!(
        fs::metadata(at("far/target")).unwrap().ino(),
        before,
        "replaced in one step"
    );

    // A link may lead to a file that is not there yet.
    symlink("far/none", at("dangling")).unwrap();
    Profile::default().save(at("dangling")).unwrap();
    assert_eq!(Profile::load(at("far/none")).unwrap(), Profile::default());
    assert!(fs::symlink_metadata(at("dangling")).unwrap().is_symlink());

    symlink("circle", at("circle")).unwrap();
    let error = write(&at("circle"), b"").unwrap_err().to_string();
    assert!(
        error.contains("circle: cannot write: its links lead in a circle"),
        "{error}"
    );
    let error = write(&at("far"), b"").unwrap_err().to_string();
    assert!(error.contains("is a folder"), "{error}");
    assert_eq!(
        fs::read_dir(at("far")).unwrap().count(),
        2,
        "no temporary file is left"
    );
    assert_eq!(names(&folder), ["circle", "dangling", "far", "link", "near"]);
}

#[test]
fn links_of_others_in_shared_folders_are_not_followed() {
    let (me, other, root) = (7, 8, 0);
    assert!(may_follow(other, root, 0o40755, me));
    assert!(
        may_follow(other, root, 0o40777, me),
        "not sticky: the kernel follows too"
    );
    assert!(!may_follow(other, root, 0o41777, me));
    assert!(may_follow(me, root, 0o41777, me));
    assert!(may_follow(root, root, 0o41777, me));
}

#[test]
fn devices_are_written_to() {
    let folder = TempDir::new().unwrap();
    // Copies: whatever goes wrong here must not cost the machine its own devices.
    for (name, minor) in [("null", 3), ("full", 7)] {
        let made = mknodat(
            CWD,
            folder.path().join(name),
            FileType::CharacterDevice,
            Mode::from_raw_mode(0o666),
            makedev(1, minor),
        );
        if let Err(e) = made {
            eprintln!("not tested: only root makes devices: {e}");
            return;
        }
    }
    let at = |name: &str| folder.path().join(name);
    symlink("null", at("link")).unwrap();
    write(&at("null"), b"gone").unwrap();
    write(&at("link"), b"gone").unwrap();
    let error = Profile::default().save(at("full")).unwrap_err().to_string();
    assert!(
        error.contains("full: ") && error.contains("No space left"),
        "{error}"
    );
    // A file that belongs to an output that failed is not there either.
    let new = |name: &str| NewFile {
        path: at(name),
        bytes: b"x".to_vec(),
        mode: 0o666,
    };
    write_files(&[new("file"), new("full")]).unwrap_err();
    for name in ["null", "full"] {
        let data = fs::symlink_metadata(at(name)).unwrap();
        assert!(data.file_type().is_char_device(), "{name}");
    }
    assert_eq!(names(&folder), ["full", "link", "null"]);
}

#[test]
fn pipes_are_written_to() {
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let reader = {
        let pipe = pipe.clone();
        // It comes after the writer.
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            let mut bytes = Vec::new();
            File::open(pipe).unwrap().read_to_end(&mut bytes).unwrap();
            bytes
        })
    };
    // More than the pipe holds.
    let bytes = vec![42; 300_000];
    write(&pipe, &bytes).unwrap();
    assert_eq!(reader.join().unwrap(), bytes);
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(names(&folder), ["pipe"]);
}

#[test]
fn open_files_of_a_process_are_added_to() {
    use std::os::fd::AsRawFd;
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("log");
    fs::write(&log, "first\n").unwrap();
    let open = OpenOptions::new().append(true).open(&log).unwrap();
    let name = format!("/proc/self/fd/{}", open.as_raw_fd());
    write(Path::new(&name), b"second\n").unwrap();
    assert_eq!(fs::read_to_string(&log).unwrap(), "first\nsecond\n");
}

#[test]
fn a_growing_output_follows_no_link_at_its_part() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("victim"), "precious").unwrap();
    symlink("victim", at("a.trace.part")).unwrap();
    let error = Growing::open(&at("a.trace")).unwrap_err().to_string();
    assert!(
        error.ends_with("a.trace.part is there and is no regular file of this user"),
        "{error}"
    );
    // The same file under a second name is no better.
    fs::remove_file(at("a.trace.part")).unwrap();
    fs::hard_link(at("victim"), at("a.trace.part")).unwrap();
    Growing::open(&at("a.trace")).unwrap_err();
    assert_eq!(fs::read(at("victim")).unwrap(), b"precious");
}

#[test]
fn a_growing_output_keeps_the_part_of_one_that_was_killed() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (growing, mut out) = Growing::open(&at("a.trace")).unwrap();
    assert_eq!(growing.part(), at("a.trace.part"));
    assert_eq!(growing.earlier(), None);
    out.write_all(b"first").unwrap();
    let error = Growing::open(&at("a.trace")).unwrap_err().to_string();
    assert!(error.ends_with("is being written by another process"), "{error}");
    drop(out);

    let (growing, mut out) = Growing::open(&at("a.trace")).unwrap();
    assert_eq!(growing.earlier(), Some(at("a.trace.old.part").as_path()));
    out.write_all(b"second").unwrap();
    growing.place().unwrap();
    assert_eq!(fs::read(at("a.trace")).unwrap(), b"second");
    assert_eq!(fs::read(at("a.trace.old.part")).unwrap(), b"first");

    // Through a link, with the permissions of what is there.
    fs::set_permissions(at("a.trace"), Permissions::from_mode(0o600)).unwrap();
    symlink("a.trace", at("link.trace")).unwrap();
    let (growing, mut out) = Growing::open(&at("link.trace")).unwrap();
    out.write_all(b"third").unwrap();
    growing.place().unwrap();
    assert_eq!(fs::read(at("a.trace")).unwrap(), b"third");
    assert_eq!(mode(&at("a.trace")), 0o600);
    assert_eq!(names(&folder), ["a.trace", "a.trace.old.part", "link.trace"]);
}

#[test]
fn leftovers_of_the_dead_are_cleared() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in [
        ".trodden-1-0.tmp",
        ".trodden-1-1.tmp",
        ".trodden-1-2.tmp",
        "mine.tmp",
    ] {
        fs::write(at(name), "half").unwrap();
    }
    symlink("mine.tmp", at(".trodden-link.tmp")).unwrap();
    for name in [".trodden-1-0.tmp", ".trodden-1-1.tmp", "mine.tmp"] {
        age(&at(name));
    }
    let living = File::open(at(".trodden-1-1.tmp")).unwrap();
    rustix::fs::flock(&living, FlockOperation::LockExclusive).unwrap();

    let run = at(".trodden-run-dead");
    fs::create_dir(&run).unwrap();
    Profile::default().save(run.join("4711.trodden")).unwrap();
    fs::write(run.join("4712.trodden"), "damaged").unwrap();
    fs::write(at("trodden-4711.trodden"), "an older one").unwrap();
    age(&run);
    let held = at(".trodden-run-held");
    fs::create_dir(&held).unwrap();
    let _held = hold(&held).unwrap();
    age(&held);

    for name in ["new", "old"] {
        let staging = at(&format!("{STAGING_FOLDER}{name}"));
        fs::create_dir_all(staging.join(name)).unwrap();
        age(&staging);
    }

    let found = clear(&folder);
    assert_eq!(found.profiles, [at("trodden-4711-2.trodden")]);
    assert_eq!(found.outputs, [at(".trodden-classes-old/old")]);
    assert_eq!(found.removed, 2);
    assert_eq!(Profile::load(&found.profiles[0]).unwrap(), Profile::default());
    assert_eq!(fs::read(at("trodden-4711.trodden")).unwrap(), b"an older one");
    // The damaged file may be of a newer version: it stays, and so does its folder.
    assert_eq!(
        names(&folder),
        [
            ".trodden-1-1.tmp",
            ".trodden-1-2.tmp",
            ".trodden-classes-old",
            ".trodden-link.tmp",
            ".trodden-run-dead",
            ".trodden-run-held",
            "mine.tmp",
            "trodden-4711-2.trodden",
            "trodden-4711.trodden"
        ]
    );
    fs::remove_file(run.join("4712.trodden")).unwrap();
    age(&run);
    assert_eq!(clear(&folder).removed, 1);
}

#[test]
fn a_run_whose_program_lives_is_left_alone() {
    let folder = TempDir::new().unwrap();
    // The name is unique, so that no other process has it.
    let run = TempDir::with_prefix_in(RUN_FOLDER, folder.path()).unwrap().keep();
    age(&run);
    let mut program = std::process::Command::new("sleep")
        .arg("600")
        .env(
            "JAVA_TOOL_OPTIONS",
            format!("-agentpath:x=file={}/%p", run.display()),
        )
        .spawn()
        .unwrap();
    // Until it is the program, it has our environment.
    while !fs::read(format!("/proc/{}/cmdline", program.id()))
        .unwrap()
        .starts_with(b"sleep")
    {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(clear(&folder).removed, 0);
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(clear(&folder).removed, 1);
    assert!(!run.exists());
}

#[test]
fn a_lease_ends_with_whoever_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lease");
    assert!(Lease::of_another(&path).is_err(), "there is none");
    let held = Lease::hold(&path).unwrap();
    assert!(Lease::hold(&path).is_err(), "it is there already");
    let seen = Lease::of_another(&path).unwrap();
    let (sender, ended) = std::sync::mpsc::channel();
    let waiting = std::thread::spawn(move || {
        seen.await_end().unwrap();
        sender.send(()).unwrap();
    });
    assert!(ended.recv_timeout(Duration::from_millis(50)).is_err());
    drop(held);
    ended.recv_timeout(Duration::from_secs(10)).unwrap();
    waiting.join().unwrap();
    assert!(Lease::of_another(&path).is_err(), "nobody holds it any more");
}
