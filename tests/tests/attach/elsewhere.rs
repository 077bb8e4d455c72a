//! JVMs of other users, in other PID and mount namespaces, and behind another root. Not everywhere can these
//! be made: what could not be tested is said.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts};

use crate::attendee::{Attendee, LIMIT, begin, can, classes, classes_in, session_that_sees, signal};

/// User and group `nobody`.
const NOBODY: [&str; 4] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];

/// Runs the rest of the command line in a container: it is process 1, and has mounts of its own.
fn container() -> Option<Vec<&'static str>> {
    let mut words = vec!["unshare", "--pid", "--mount", "--fork", "--mount-proc"];
    if fs::metadata("/proc/self").ok()?.uid() != 0 {
        words.insert(1, "--map-root-user");
    }
    let tried: Vec<&str> = words
        .iter()
        .copied()
        .chain(["mount", "-t", "tmpfs", "none", "/tmp"])
        .collect();
    can(&tried, "JVMs in containers").then_some(words)
}

/// Sees a session through, twice, and that nothing is left in the JVM's own folders.
fn visited(program: &Attendee, what: &str) -> Result<()> {
    for file in ["one.trodden", "two.json"] {
        let sees = |outcome: &Outcome| Ok(outcome.stdout.contains("Attendee.one"));
        session_that_sees(program, &program.pid(), file, sees).map_err(|e| format!("{what}: {e}"))?;
        assert!(program.file(file).exists(), "{what}: {file}");
    }
    let status = program.attach(&["status"])?.success()?;
    assert!(status.stdout.contains("state: stopped"), "{what}: {status:?}");
    assert!(program.counts_no_more()?, "{what}: probes are still in");
    for place in ["tmp", "var/tmp", "dev/shm"] {
        let folder = format!("/proc/{}/root/{place}", program.pid());
        let left = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("trodden-agent-"));
        assert!(left.next().is_none(), "{what}: left in {folder}");
    }
    // Loaded once, from one file.
    let mut maps = program.maps("/libtrodden.so")?;
    maps.iter_mut()
        .for_each(|line| drop(line.drain(..line.find('/').unwrap_or(0))));
    maps.dedup();
    assert_eq!(maps.len(), 1, "{what}: {maps:?}");
    Ok(())
}

#[test]
fn containers() -> Result<()> {
    let Some(container) = container() else {
        return Ok(());
    };
    let hidden = artefacts::artefacts()?.agent.parent().ok_or("no folder")?;
    for (number, jdk) in Jdk::ends()?.iter().enumerate() {
        // Another /tmp, from which nothing can be loaded on one of the JDKs; and no agent.
        let options = ["exec", "noexec"][number % 2];
        // Where the project itself is in /tmp, the program could not be found any more.
        let other = if hidden.starts_with("/tmp") {
            String::new()
        } else {
            format!("mount -t tmpfs -o mode=1777,{options} none /tmp && ")
        };
        let script = format!("{other}mount -t tmpfs none '{}' && exec \"$@\"", hidden.display());
        let before: Vec<&str> = container
            .iter()
            .copied()
            .chain(["sh", "-c", &script, "sh"])
            .collect();
        let program = Attendee::launch(jdk, classes(jdk, "")?, &before, &["-cp", ".", "Attendee"])?;
        let inner = fs::read_to_string(format!("/proc/{}/status", program.pid()))?;
        let inner = inner
            .lines()
            .find(|line| line.starts_with("NSpid:"))
            .ok_or("no NSpid")?;
        assert!(inner.ends_with("\t1"), "{inner}");
        visited(&program, "container")?;

        // All of it goes at once, its file system too.
        let told = program.file("told");
        let mut running = begin(program.session(&program.pid(), "3600s", "gone.trodden")?, &told)?;
        signal("KILL", program.pid())?;
        assert_eq!(running.wait()?.code(), Some(1));
        let told = fs::read_to_string(&told)?;
        assert!(told.contains("(was it killed?)"), "{told}");
        assert!(!program.file("gone.trodden").exists());
    }
    Ok(())
}

/// A root folder of this machine's parts, in which `ROOT/tmp` and `/app` differ.
const OTHER_ROOT: &str = r#"
set -e
root=$1 app=$2 home=$3
shift 3
mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root/app"
for part in usr bin sbin lib lib32 lib64 etc opt; do
    if [ -L "/$part" ]; then cp -P "/$part" "$root/$part"
    elif [ -d "/$part" ]; then mkdir -p "$root/$part"; mount --rbind "/$part" "$root/$part"
    fi
done
mkdir -p "$root$home"
mount --rbind "$home" "$root$home"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount --bind "$app" "$root/app"
exec chroot "$root" "$@"
"#;

#[test]
fn another_root() -> Result<()> {
    let Some(container) = container() else {
        return Ok(());
    };
    for jdk in &Jdk::ends()? {
        let folder = classes(jdk, "")?;
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let paths = [root.path(), folder.path(), &jdk.home].map(|path| path.display().to_string());
        let mut before = container.clone();
        before.extend(["sh", "-c", OTHER_ROOT, "sh"]);
        before.extend(paths.iter().map(String::as_str));
        let program = Attendee::launch(jdk, folder, &before, &["-cp", "/app", "Attendee"])?;
        visited(&program, "chroot")?;
        let listed = process::run(Command::new(&artefacts::artefacts()?.cli).arg("ps"), LIMIT)?.success()?;
        let line = listed
            .stdout
            .lines()
            .find(|line| line.split_whitespace().next() == Some(&program.pid()));
        let line = line.ok_or("it is not listed")?;
        assert!(
            line.contains(&format!(" {}", jdk.feature)) && line.contains("loaded"),
            "{line}"
        );
    }
    Ok(())
}

/// A folder with program and agent that only we may enter.
fn closed(room: &Path) -> Result<Command> {
    let artefacts = artefacts::artefacts()?;
    let folder = room.join("closed");
    fs::create_dir(&folder)?;
    fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
    let agent = folder.join("libtrodden.so");
    fs::copy(&artefacts.agent, &agent)?;
    let temporary = folder.join("temporary");
    fs::create_dir(&temporary)?;
    let mut command = Command::new(&artefacts.cli);
    command.env("TRODDEN_AGENT", agent).env("TMPDIR", temporary);
    Ok(command)
}

/// That user asks for a session with a JVM, by a copy of the program in that folder: where it is built may be
/// closed to that user.
fn as_nobody(room: &Path, jvm: &str) -> Result<Command> {
    fs::set_permissions(room, Permissions::from_mode(0o755))?;
    let artefacts = artefacts::artefacts()?;
    let [cli, agent] = ["trodden", "libtrodden.so"].map(|name| room.join(name));
    fs::copy(&artefacts.cli, &cli)?;
    fs::copy(&artefacts.agent, &agent)?;
    let mut command = Command::new(NOBODY[0]);
    command
        .args(&NOBODY[1..])
        .arg(&cli)
        .args(["attach", jvm, "--for", "1s"])
        .env("TRODDEN_AGENT", agent);
    Ok(command)
}

#[test]
fn root_attaches_to_any_user() -> Result<()> {
    let tried: Vec<&str> = NOBODY.into_iter().chain(["true"]).collect();
    if !can(&tried, "JVMs of other users") {
        return Ok(());
    }
    for jdk in &Jdk::ends()? {
        // Where the project is may be closed to that user.
        let open = classes_in(jdk, "", tempfile::tempdir()?)?;
        let program = Attendee::launch(jdk, open, &NOBODY, &["-cp", ".", "Attendee"])?;
        // A JVM of root's that had this process id was killed: this one may not remove what it left.
        let socket = format!("/tmp/.java_pid{}", program.pid());
        let _ = fs::remove_file(&socket);
        drop(UnixListener::bind(&socket)?);
        let open = tempfile::tempdir()?;
        let refused = process::run(&mut as_nobody(open.path(), &program.pid())?, LIMIT)?;
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        for told in [&*socket, "only its owner or root can remove it"] {
            assert!(refused.stderr.contains(told), "{told}: {refused:?}");
        }
        // Neither the agent nor our temporary folder can be read by that user.
        let room = tempfile::tempdir()?;
        let mut command = closed(room.path())?;
        command
            .args([
                "attach",
                &program.pid(),
                "--probe",
                "counters",
                "--include",
                "Attendee",
            ])
            .args(["--for", "2s", "-o"])
            .arg(room.path().join("nobody.json"));
        let outcome = process::run(&mut command, LIMIT)?.success()?;
        assert!(outcome.stdout.contains("Attendee.one"), "{outcome:?}");
        assert!(program.maps("/libtrodden.so")?[0].ends_with("(deleted)"));
        visited(&program, "another user")?;
    }
    Ok(())
}

#[test]
fn a_user_is_refused_at_anothers_jvm() -> Result<()> {
    let tried: Vec<&str> = NOBODY.into_iter().chain(["true"]).collect();
    if !can(&tried, "a user at root's JVM") {
        return Ok(());
    }
    let jdk = &Jdk::oldest()?;
    let jar = "attendee-of-root.jar";
    let program = Attendee::launch(jdk, classes(jdk, jar)?, &[], &["-jar", jar])?;
    for name in [&*program.pid(), "attendee-of-root", jar] {
        let room = tempfile::tempdir()?;
        let refused = process::run(&mut as_nobody(room.path(), name)?, LIMIT)?;
        assert_eq!(refused.status.code(), Some(1), "{name}: {refused:?}");
        for told in [
            "user 'root' (id 0)",
            "run trodden as that user, or as root",
            &program.pid(),
        ] {
            assert!(refused.stderr.contains(told), "{name}: {told}: {refused:?}");
        }
    }
    assert!(program.maps("/libtrodden.so")?.is_empty(), "it was touched");
    Ok(())
}
