//! The attach protocol against real JVMs.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::contains;
use tempfile::TempDir;

const SLEEPER: &str = "public class Sleeper { public static void main(String[] a) throws Exception {\
    System.out.println(\"ready\"); System.out.flush(); Thread.sleep(86400000); } }";

/// Java homes: `TRODDEN_TEST_JDKS`, else all under /usr/lib/jvm, else JAVA_HOME.
fn jdks() -> Vec<PathBuf> {
    if let Some(homes) = env::var_os("TRODDEN_TEST_JDKS") {
        return env::split_paths(&homes).collect();
    }
    let found = fs::read_dir("/usr/lib/jvm")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let homes = found.chain(env::var_os("JAVA_HOME").map(PathBuf::from));
    let mut homes: Vec<PathBuf> = homes
        .filter(|home| home.join("bin/javac").is_file())
        .filter_map(|home| home.canonicalize().ok())
        .collect();
    homes.sort();
    homes.dedup();
    assert!(!homes.is_empty(), "these tests need a JDK");
    homes
}

struct Jvm(Child);

impl Jvm {
    fn start(home: &Path, source: &Path, options: &[&str]) -> Self {
        let mut java = Process::new(home.join("bin/java"));
        java.args(options)
            .arg(source)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = java.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n");
        Jvm(child)
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder with the program, and a library that no JVM can load.
struct Room {
    source: PathBuf,
    library: PathBuf,
    _folder: TempDir,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [source, library] = ["Sleeper.java", "libtrodden.so"].map(|name| folder.path().join(name));
        fs::write(&source, SLEEPER).unwrap();
        fs::write(&library, "no library").unwrap();
        Room {
            source,
            library,
            _folder: folder,
        }
    }

    fn trodden(&self, args: &[&str]) -> Assert {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trodden"));
        command.env("TRODDEN_AGENT", &self.library).args(args).assert()
    }
}

#[test]
fn library_that_cannot_be_loaded_is_a_clear_error() {
    let room = Room::new();
    let trodden = |args: &[&str]| room.trodden(args);
    for home in jdks() {
        let mut jvm = Jvm::start(&home, &room.source, &[]);
        let pid = jvm.0.id().to_string();
        // Twice: the first opens the attach socket, the second finds it.
        for _ in 0..2 {
            trodden(&["attach", &pid, "status"])
                .code(1)
                .stderr(contains("could not load the agent").and(contains("libtrodden.so")));
        }
        assert!(
            jvm.0.try_wait().unwrap().is_none(),
            "{}: the JVM was harmed",
            home.display()
        );

        let mut closed = Jvm::start(&home, &room.source, &["-XX:+DisableAttachMechanism"]);
        let pid = closed.0.id().to_string();
        trodden(&["attach", &pid, "status"])
            .code(1)
            .stderr(contains("DisableAttachMechanism"));
        trodden(&["doctor", &pid])
            .code(1)
            .stdout(contains("DisableAttachMechanism"));
        assert!(
            closed.0.try_wait().unwrap().is_none(),
            "{}: the JVM was harmed",
            home.display()
        );
    }
}

#[test]
fn a_socket_that_a_killed_process_has_left_is_in_nobodys_way() {
    let room = Room::new();
    let trodden = |args: &[&str]| room.trodden(args);
    for home in jdks() {
        let jvm = Jvm::start(&home, &room.source, &[]);
        let pid = jvm.0.id().to_string();
        let socket = PathBuf::from(format!("/tmp/.java_pid{pid}"));
        // Nothing listens there once the listener is gone; the file stays.
        drop(UnixListener::bind(&socket).unwrap());
        trodden(&["doctor", &pid]).stdout(contains("is the attach socket of a killed process"));
        assert!(socket.exists(), "doctor only looks");
        // The JVM itself answers.
        trodden(&["attach", &pid, "status"])
            .code(1)
            .stderr(contains("could not load the agent").and(contains("libtrodden.so")));
        trodden(&["doctor", &pid]).stdout(contains("its attach socket is open"));
    }
}
