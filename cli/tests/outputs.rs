//! Where results go: links are followed, devices and pipes written to, leftovers of killed runs cleared; and
//! what no message may hold.

use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use tempfile::TempDir;
use trodden_profile::{Profile, RunInfo};

/// A `java` that writes the profile that the agent would.
const JAVA: &str = r#"#!/bin/sh
f=$(printf '%s' "$1" | sed -e 's/.*,file=//' -e 's/[",].*//' -e "s/%p/$$/")
cp sample.trodden "$f"
"#;

struct Room(TempDir);

impl Room {
    fn new() -> Self {
        let room = Room(TempDir::with_prefix("trodden-outputs-").unwrap());
        let run = RunInfo {
            exact: true,
            ..RunInfo::default()
        };
        let profile = Profile {
            run,
            ..Profile::default()
        };
        profile.save(room.path("sample.trodden")).unwrap();
        fs::write(room.path("libtrodden.so"), "no library").unwrap();
        fs::write(room.path("java"), JAVA).unwrap();
        fs::set_permissions(room.path("java"), Permissions::from_mode(0o755)).unwrap();
        room
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn trodden(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trodden"));
        command
            .current_dir(self.0.path())
            .env("TRODDEN_AGENT", self.path("libtrodden.so"))
            .env("TMPDIR", self.0.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env_remove("JAVA_TOOL_OPTIONS")
            .args(args);
        command
    }

    fn hidden(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with('.')).collect()
    }

    /// A device of our own; `false` if only root may make one. The machine's own must not be at risk here.
    fn device(&self, name: &str, minor: &str) -> bool {
        let made = Process::new("mknod")
            .arg(self.path(name))
            .args(["c", "1", minor])
            .output();
        made.is_ok_and(|made| made.status.success())
    }
}

/// The subcommands that write a file, with the output named `out`.
fn writers(out: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["report", "sample.trodden", "-o", out],
        vec!["report", "sample.trodden", "--format", "lcov", "-o", out],
        vec!["merge", "sample.trodden", "-o", out],
        vec!["run", "-o", out, "--", "./java"],
    ]
}

#[test]
fn a_link_stays_and_its_target_keeps_its_permissions() {
    for args in writers("link") {
        let room = Room::new();
        fs::create_dir(room.path("far")).unwrap();
        fs::write(room.path("far/target"), "old").unwrap();
        fs::set_permissions(room.path("far/target"), Permissions::from_mode(0o640)).unwrap();
        symlink("far/target", room.path("link")).unwrap();
        room.trodden(&args).assert().success();
        assert!(
            fs::symlink_metadata(room.path("link")).unwrap().is_symlink(),
            "{args:?}"
        );
        assert_ne!(fs::read(room.path("far/target")).unwrap(), b"old", "{args:?}");
        let mode = fs::metadata(room.path("far/target"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o640, "{args:?}");
        assert!(room.hidden().is_empty(), "{args:?}: {:?}", room.hidden());
    }
}

#[test]
fn a_device_is_written_to() {
    for args in writers("null") {
        let room = Room::new();
        if !room.device("null", "3") || !room.device("full", "7") {
            eprintln!("not tested: only root makes devices");
            return;
        }
        room.trodden(&args).assert().success();
        let full: Vec<&str> = args
            .iter()
            .map(|&arg| if arg == "null" { "full" } else { arg })
            .collect();
        let written = room.trodden(&full).assert();
        // Nothing was counted, so the tracefile is empty and fits. The further processing of a profile does
        // not change the exit code of a run.
        if !args.contains(&"lcov") {
            written
                .code(i32::from(args[0] != "run"))
                .stderr(contains("No space left").and(contains("full")));
        }
        for name in ["null", "full"] {
            let kind = fs::symlink_metadata(room.path(name)).unwrap().file_type();
            assert!(kind.is_char_device(), "{args:?} {name}");
        }
        assert!(room.hidden().is_empty(), "{args:?}: {:?}", room.hidden());
        assert!(!room.path("null.paths.json").exists());
    }
}

#[test]
fn a_pipe_is_written_to() {
    for args in writers("pipe") {
        let room = Room::new();
        let pipe = room.path("pipe");
        assert!(Process::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = {
            let pipe = pipe.clone();
            thread::spawn(move || {
                let mut bytes = Vec::new();
                File::open(pipe).unwrap().read_to_end(&mut bytes).unwrap();
                bytes.len()
            })
        };
        room.trodden(&args).assert().success();
        assert!(
            fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo(),
            "{args:?}"
        );
        if args.contains(&"lcov") {
            // Nothing was counted, so there is nothing in it.
            continue;
        }
        assert!(reader.join().unwrap() > 0, "{args:?}");
    }
}

#[test]
fn standard_output_by_name_is_added_to() {
    let room = Room::new();
    let log = room.path("log");
    fs::write(&log, "first\n").unwrap();
    let out = fs::OpenOptions::new().append(true).open(&log).unwrap();
    let status = Process::new(env!("CARGO_BIN_EXE_trodden"))
        .current_dir(room.0.path())
        .args(["report", "sample.trodden", "-o", "/dev/stdout"])
        .stdout(out)
        .status()
        .unwrap();
    assert!(status.success());
    let text = fs::read_to_string(&log).unwrap();
    assert!(
        text.starts_with("first\n") && text.contains("No path was counted"),
        "{text}"
    );
}

#[test]
fn a_trace_needs_a_regular_file() {
    let room = Room::new();
    let pipe = room.path("pipe.trace");
    assert!(Process::new("mkfifo").arg(&pipe).status().unwrap().success());
    let args = ["run", "--probe", "events", "-o", "pipe.trace", "--", "./java"];
    room.trodden(&args)
        .assert()
        .code(2)
        .stderr(contains("a trace needs a regular file"));
}

fn age(path: &Path) {
    let then = SystemTime::now() - Duration::from_secs(60);
    File::open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn a_run_clears_what_killed_ones_left_and_keeps_their_profiles() {
    let room = Room::new();
    // A run of a launcher that is killed after its JVM has written.
    let script = "f=$(printf '%s' \"$JAVA_TOOL_OPTIONS\" | sed -e 's/.*,file=//' -e 's/[\",].*//' -e 's/%p/4711/')\n\
                  cp sample.trodden \"$f\"\nkill -9 $PPID\n";
    fs::write(room.path("tool"), format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(room.path("tool"), Permissions::from_mode(0o755)).unwrap();
    room.trodden(&["run", "-o", "a.trodden", "--", "./tool"])
        .assert()
        .interrupted();
    let left = room.hidden();
    assert!(
        left.len() == 1 && left[0].starts_with(".trodden-run-"),
        "{left:?}"
    );
    fs::write(room.path(".trodden-1-0.tmp"), "half").unwrap();
    // What was left a moment ago may belong to a process that is just starting.
    room.trodden(&["run", "-o", "b.trodden", "--", "./java"])
        .assert()
        .success();
    assert_eq!(room.hidden().len(), 2);

    age(&room.path(&left[0]));
    age(&room.path(".trodden-1-0.tmp"));
    room.trodden(&["run", "-o", "b.trodden", "--", "./java"])
        .assert()
        .success()
        .stderr(
            contains("an earlier run was killed; its profile is kept: ")
                .and(contains("trodden-4711.trodden")),
        );
    assert!(room.hidden().is_empty(), "{:?}", room.hidden());
    assert!(Profile::load(room.path("trodden-4711.trodden")).is_ok());
}

#[test]
fn messages_hold_no_terminal_escapes() {
    let room = Room::new();
    let name = "a\u{1b}]0;owned\u{7}\u{202e}.trodden";
    fs::write(room.path(name), "no profile").unwrap();
    for args in [
        vec!["report", name],
        vec!["merge", name, "-o", "x.trodden"],
        vec!["compare", name, name],
        vec!["replay", name, "-o", "x.trodden"],
        vec!["check", name, "--rules", "lines >= 1%"],
        vec!["instrument", name, "-o", "x"],
        vec!["doctor", name],
    ] {
        let output = room.trodden(&args).output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!output.status.success(), "{args:?}");
        assert!(
            !text.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{args:?}: {text:?}"
        );
        assert!(
            text.contains("\\u001b]0;owned\\u0007\\u202e"),
            "{args:?}: {text:?}"
        );
    }
}

/// Standard error or output that is closed: what is written there is lost.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn closed_streams_change_no_exit_code() {
    let room = Room::new();
    fs::write(room.path("mvn"), "#!/bin/sh\nexit 7\n").unwrap();
    fs::set_permissions(room.path("mvn"), Permissions::from_mode(0o755)).unwrap();
    let sample = "sample.trodden";
    for (words, code) in [
        (vec!["run", "--", "./java"], 0),
        (vec!["run", "-o", "x.html", "--", "./java"], 0),
        (vec!["run", "-o", "x.trace", "--", "./java"], 0),
        (vec!["run", "--", "./mvn"], 7),
        (vec!["report", sample], 0),
        (vec!["report", "nowhere.trodden"], 1),
        (vec!["check", sample, "--rule", "lines of method all >= 1"], 2),
        // Nothing was counted, so there is nothing to compare.
        (vec!["diff", sample, sample], 1),
        (vec!["coverage", sample], 0),
        // The room's agent is no library, so no JVM loads it.
        (vec!["doctor"], 1),
        (vec!["ps"], 0),
        (vec!["completions", "bash"], 0),
        (vec!["--help"], 0),
        (vec!["--help-all"], 0),
        (vec!["rnu"], 2),
        (vec!["run", "--nonsense"], 2),
    ] {
        let run = |out: Stdio, err: Stdio| {
            let trodden = room.trodden(&words);
            let mut process = Process::new(trodden.get_program());
            process
                .args(&words)
                .current_dir(room.0.path())
                .stdout(out)
                .stderr(err);
            for (name, value) in trodden.get_envs() {
                match value {
                    Some(value) => process.env(name, value),
                    None => process.env_remove(name),
                };
            }
            process.status().unwrap().code()
        };
        let open = run(Stdio::null(), Stdio::null());
        if !words.contains(&"check") {
            assert_eq!(open, Some(code), "{words:?}");
        }
        assert_eq!(
            run(Stdio::null(), closed()),
            open,
            "{words:?}, standard error closed"
        );
        assert_eq!(
            run(closed(), Stdio::null()),
            open,
            "{words:?}, standard output closed"
        );
    }
}

#[test]
fn runs_without_a_name_are_kept_in_one_folder() {
    let room = Room::new();
    let before = fs::read_dir(room.0.path()).unwrap().count();
    for _ in 0..22 {
        let said = room.trodden(&["run", "--", "./java"]).assert().success();
        let said = String::from_utf8(said.get_output().stderr.clone()).unwrap();
        let last = said.lines().last().unwrap();
        assert!(
            last.contains("are kept in") && last.contains("cache/trodden/runs"),
            "{said}"
        );
    }
    let kept = fs::read_dir(room.path("cache/trodden/runs")).unwrap().flatten();
    let kept = Vec::from_iter(kept.map(|entry| entry.path()));
    assert_eq!(kept.len(), 20, "{kept:?}");
    assert!(Profile::load(&kept[0]).is_ok());
    // Nothing is left where it ran, but for the cache's folder.
    assert_eq!(fs::read_dir(room.0.path()).unwrap().count(), before + 1);
    // A project may have a folder of its own.
    fs::create_dir(room.path(".trodden")).unwrap();
    room.trodden(&["run", "--", "./java"]).assert().success();
    assert_eq!(fs::read_dir(room.path(".trodden/runs")).unwrap().count(), 1);
}

#[test]
fn a_file_of_no_known_format_is_refused() {
    let room = Room::new();
    for words in [
        &["run", "-o", "x.hmtl", "--", "./java"][..],
        &["run", "--file", "x.hmtl", "--", "./java"],
        &["report", "sample.trodden", "-o", "x.hmtl"],
        &["coverage", "sample.trodden", "-o", "x.hmtl"],
        &["diff", "sample.trodden", "sample.trodden", "-o", "x.hmtl"],
        &["replay", "x.trace", "-o", "x.hmtl"],
        &["attach", "1", "--for", "1s", "-o", "x.hmtl"],
        &["gate", "compare", "a.gate", "b.gate", "-o", "x.jsn"],
    ] {
        let known = if words[0] == "gate" { ".json" } else { ".html" };
        room.trodden(words).assert().code(2).stderr(
            contains("no format has the ending")
                .and(contains(format!("did you mean {known}?")))
                .and(contains(".json, ")),
        );
    }
    assert!(!room.path("x.hmtl").exists());
    // Without an ending, or with one that is a number, a file is what the command makes.
    for name in ["plain", "profile.1"] {
        room.trodden(&["run", "-o", name, "--", "./java"])
            .assert()
            .success();
        assert!(room.path(name).exists());
    }
}
