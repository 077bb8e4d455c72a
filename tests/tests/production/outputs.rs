//! The agent's outputs: links are followed, devices and pipes written to, and no link that others laid is.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts, build};

const MAIN: &str = "public class Main {
    public static void main(String[] args) {
        for (int i = 0; i < 10; i++) {
            System.out.println(i);
        }
    }
}
";

/// A compiled program in a folder of its own.
struct Room {
    folder: tempfile::TempDir,
    jdk: Jdk,
}

impl Room {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("Main.java");
        fs::write(&source, MAIN)?;
        let jdk = Jdk::oldest()?;
        build::javac(&jdk, "", &[source], folder.path())?;
        Ok(Room { folder, jdk })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program runs as ever, whatever becomes of the profile.
    fn run(&self, options: &str, file: &Path) -> Result<Outcome> {
        let agent = &artefacts::artefacts()?.agent;
        let flag = format!(
            "-agentpath:{}=start,{options},file={}",
            agent.display(),
            file.display()
        );
        let mut java = self.jdk.command("java");
        java.arg(flag).arg("-cp").arg(self.folder.path()).arg("Main");
        java.env_remove("JAVA_TOOL_OPTIONS");
        let outcome = process::run(&mut java, Duration::from_secs(120))?.success()?;
        assert_eq!(outcome.stdout, "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        Ok(outcome)
    }
}

const COUNTERS: &str = "probe=counters,include=Main";
const EVENTS: &str = "probe=events,include=Main";

#[test]
fn links_are_followed() -> Result<()> {
    let room = Room::new()?;
    for (options, name) in [(COUNTERS, "a.trodden"), (EVENTS, "a.trace")] {
        fs::create_dir_all(room.path("far"))?;
        symlink(Path::new("far").join(name), room.path(name))?;
        room.run(options, &room.path(name))?;
        assert!(fs::symlink_metadata(room.path(name))?.is_symlink(), "{name}");
        assert!(
            fs::symlink_metadata(room.path("far").join(name))?.is_file(),
            "{name}"
        );
    }
    assert!(Profile::load(room.path("far/a.trodden"))?.run.exact);
    assert_eq!(
        fs::read_dir(room.path("far"))?.count(),
        2,
        "no temporary file is left"
    );
    Ok(())
}

#[test]
fn devices_and_pipes_are_written_to() -> Result<()> {
    let room = Room::new()?;
    // Devices of our own: whatever goes wrong here must not cost the machine its own.
    for (name, minor) in [("full.trodden", "7"), ("null.trace", "3")] {
        let made = Command::new("mknod")
            .arg(room.path(name))
            .args(["c", "1", minor])
            .output()?;
        if !made.status.success() {
            eprintln!("SKIPPED: only root makes devices");
            continue;
        }
        let options = if name.ends_with("trace") { EVENTS } else { COUNTERS };
        let outcome = room.run(options, &room.path(name))?;
        assert_eq!(
            outcome.stderr.contains("No space left"),
            minor == "7",
            "{}",
            outcome.stderr
        );
        let kind = fs::symlink_metadata(room.path(name))?.file_type();
        assert!(kind.is_char_device(), "{name}");
    }
    for (options, name) in [(COUNTERS, "pipe.trodden"), (EVENTS, "pipe.trace")] {
        let pipe = room.path(name);
        assert!(Command::new("mkfifo").arg(&pipe).status()?.success());
        let reader = {
            let pipe = pipe.clone();
            thread::spawn(move || {
                let mut bytes = Vec::new();
                File::open(pipe)
                    .and_then(|mut file| file.read_to_end(&mut bytes))
                    .map(|_| bytes)
            })
        };
        room.run(options, &pipe)?;
        let bytes = reader.join().expect("no panic")?;
        let magic: &[u8] = if name.ends_with("trace") {
            b"\x89TRDT"
        } else {
            b"\x89TRDN"
        };
        assert!(bytes.starts_with(magic), "{name}: {} bytes", bytes.len());
        assert!(fs::symlink_metadata(&pipe)?.file_type().is_fifo());
    }
    Ok(())
}

#[test]
fn a_link_laid_at_the_part_of_a_trace_is_not_followed() -> Result<()> {
    let room = Room::new()?;
    fs::write(room.path("victim"), "precious")?;
    symlink("victim", room.path("a.trace.part"))?;
    let outcome = room.run(EVENTS, &room.path("a.trace"))?;
    assert_eq!(fs::read_to_string(room.path("victim"))?, "precious");
    assert!(
        outcome
            .stderr
            .contains("a.trace.part is there and is no regular file"),
        "{}",
        outcome.stderr
    );
    // What a killed JVM left is kept.
    fs::remove_file(room.path("a.trace.part"))?;
    fs::write(room.path("a.trace.part"), "half")?;
    let outcome = room.run(EVENTS, &room.path("a.trace"))?;
    assert_eq!(fs::read_to_string(room.path("a.trace.old.part"))?, "half");
    assert!(outcome.stderr.contains("is kept: ") && outcome.stderr.contains("a.trace.old.part"));
    assert!(room.path("a.trace").is_file() && !room.path("a.trace.part").exists());
    Ok(())
}
