//! However a session ends, the program runs its own code again, and no file is half written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, process};

use crate::attendee::{Attendee, LIMIT, await_that, begin, signal};

/// A session of an hour that counts, and writes to `end.trodden`.
fn session(program: &Attendee) -> Result<Command> {
    let mut command = program.session(&program.pid(), "3600s", "end.trodden")?;
    // What a killed one leaves is gone with the program's folder.
    command.env("TMPDIR", program.file("."));
    Ok(command)
}

fn state(program: &Attendee) -> Result<String> {
    Ok(program.attach(&["status"])?.success()?.stdout)
}

#[test]
fn signals_end_it_and_give_the_program_its_code_back() -> Result<()> {
    for jdk in &Jdk::ends()? {
        let program = Attendee::start(jdk)?;
        for name in ["INT", "TERM", "HUP"] {
            let told = program.file("told");
            let mut running = begin(session(&program)?, &told)?;
            program.counts_on()?;
            signal(name, running.id())?;
            let ended = running.wait()?;
            assert!(ended.success(), "{name}: {ended}: {}", fs::read_to_string(&told)?);
            assert!(state(&program)?.contains("state: stopped"), "{name}");
            assert!(program.counts_no_more()?, "{name}: probes are still in");
            fs::remove_file(program.file("end.trodden"))?;
        }
    }
    Ok(())
}

#[test]
fn a_killed_session_is_ended_by_the_agent() -> Result<()> {
    for jdk in &Jdk::ends()? {
        let mut program = Attendee::start(jdk)?;
        let mut running = begin(session(&program)?, &program.file("told"))?;
        program.counts_on()?;
        signal("KILL", running.id())?;
        running.wait()?;
        await_that("the agent stops by itself", || {
            Ok(state(&program)?.contains("state: stopped"))
        })?;
        assert!(program.counts_no_more()?, "probes are still in");
        assert!(!program.file("end.trodden").exists());

        // Another one is not refused, and its end is not that of the one before.
        let mut other = begin(session(&program)?, &program.file("told"))?;
        program.counts_on()?;
        signal("INT", other.id())?;
        assert!(other.wait()?.success());
        assert!(program.file("end.trodden").exists());
        // A recording that was started without a session continues alone.
        program
            .attach(&["start", "--include", "Attendee", "--probe", "counters"])?
            .success()?;
        program.counts_on()?;
        program.attach(&["stop", "--file", "/dev/null"])?.success()?;
        program.go_on()?;
        program.go_on()?;
        program.says("true")?;
        program.ends()?;
    }
    Ok(())
}

#[test]
fn a_killed_jvm_leaves_nothing_half_done() -> Result<()> {
    for jdk in &Jdk::ends()? {
        let program = Attendee::start(jdk)?;
        let temporary = program.file("temporary");
        fs::create_dir(&temporary)?;
        let told = program.file("told");
        let mut command = session(&program)?;
        command.env("TMPDIR", &temporary);
        let mut running = begin(command, &told)?;
        signal("KILL", program.pid())?;
        let ended = running.wait()?;
        let told = fs::read_to_string(&told)?;
        assert_eq!(ended.code(), Some(1), "{told}");
        assert!(
            told.contains("ended without writing its profile (was it killed?)"),
            "{told}"
        );
        assert!(!program.file("end.trodden").exists());
        assert_eq!(fs::read_dir(&temporary)?.count(), 0, "files are left over");
    }
    Ok(())
}

#[test]
fn what_a_killed_session_leaves_is_private_and_cleared_by_the_next_one() -> Result<()> {
    let program = Attendee::start(&Jdk::oldest()?)?;
    let temporary = program.file("temporary");
    fs::create_dir(&temporary)?;
    let with_temporary = |mut command: Command| {
        command.env("TMPDIR", &temporary);
        command
    };
    let folders = || -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(&temporary)?.flatten();
        Ok(entries.map(|entry| entry.path()).collect())
    };
    let mut running = begin(with_temporary(session(&program)?), &program.file("told"))?;
    let [folder] = folders()?.try_into().map_err(|all| format!("{all:?}"))?;
    assert_eq!(fs::metadata(&folder)?.permissions().mode() & 0o777, 0o700);
    // A session that lives keeps its folder, however old that is.
    let old = SystemTime::now() - Duration::from_secs(60);
    let age = || fs::File::open(&folder)?.set_modified(old);
    age()?;
    let other = with_temporary(program.session(&program.pid(), "1s", "other.trodden")?);
    assert!(
        !process::run(&mut { other }, LIMIT)?.status.success(),
        "two sessions at once"
    );
    assert_eq!(folders()?, std::slice::from_ref(&folder));
    signal("KILL", running.id())?;
    running.wait()?;
    await_that("the agent stops by itself", || {
        Ok(state(&program)?.contains("state: stopped"))
    })?;
    age()?;
    let next = with_temporary(program.session(&program.pid(), "200ms", "next.trodden")?);
    process::run(&mut { next }, LIMIT)?.success()?;
    assert_eq!(folders()?, [] as [PathBuf; 0]);
    Ok(())
}

#[test]
fn a_session_right_after_a_killed_one_takes_over() -> Result<()> {
    let program = Attendee::start(&Jdk::oldest()?)?;
    for round in 0..20 {
        let mut running = begin(session(&program)?, &program.file("told"))?;
        // The agent sees the death when the JVM runs again, and the next session is there by then.
        signal("STOP", program.pid())?;
        signal("KILL", running.id())?;
        running.wait()?;
        let mut next = program.session(&program.pid(), "100ms", "next.trodden")?;
        next.env("TMPDIR", program.file("."));
        let next = next.spawn()?;
        signal("CONT", program.pid())?;
        let outcome = process::wait(next, LIMIT)?;
        assert!(outcome.status.success(), "round {round}: {}", outcome.stderr);
    }
    Ok(())
}
