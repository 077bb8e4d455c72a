//! Sessions one after another, two at once, interrupted, and in a JVM that ends meanwhile; `trodden ps`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::talker::Talker;
use trodden_tests::{Result, artefacts, process};

use crate::attendee::{LIMIT, PROGRAM, await_that, session, session_that_sees, session_with_that_sees};

/// The program's name here: it is attached to by it, and other tests have theirs running, perhaps the same
/// tests in another folder.
static NAME: LazyLock<String> = LazyLock::new(|| format!("AttendeeByName{}", std::process::id()));
/// One at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ps() -> Result<String> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    Ok(process::run(command.arg("ps"), LIMIT)?.success()?.stdout)
}

/// The line of a process.
fn line_of(pid: &str) -> Result<String> {
    let all = ps()?;
    let found = all
        .lines()
        .find(|line| line.split_whitespace().next() == Some(pid));
    Ok(found.ok_or(format!("{pid} is not in:\n{all}"))?.to_owned())
}

fn until_loaded(pid: &str) -> Result<()> {
    await_that("the agent is loaded", || Ok(line_of(pid)?.contains("loaded")))
}

/// Waits until the session that runs has counted something.
fn await_counts(pid: &str) -> Result<()> {
    await_that("something is counted", || {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        let outcome = process::run(command.args(["attach", pid, "report"]), LIMIT)?;
        // It begins in its own time.
        Ok(outcome.status.success() && outcome.stdout.contains(&*NAME))
    })
}

/// Methods that ran, by the profile in a file.
fn ran(file: &Path) -> Result<BTreeSet<String>> {
    let profile = Profile::load(file)?;
    let class = profile.classes.iter().find(|class| class.map.name == *NAME);
    let class = class.ok_or("the class is not there")?;
    let methods = class.map.methods.iter().zip(&class.counts);
    let ran = methods.filter(|(_, counts)| counts.paths.values().any(|&count| count > 0));
    Ok(ran.map(|(method, _)| method.name.clone()).collect())
}

#[test]
fn sessions() -> Result<()> {
    let _alone = alone();
    for jdk in &Jdk::ends()? {
        let mut program = Talker::start(jdk, &NAME, &PROGRAM.replace("Attendee", &NAME))?;
        let pid = program.pid();
        let line = line_of(&pid)?;
        assert!(line.ends_with(&*NAME) && !line.contains("loaded"), "{line}");
        assert!(line.contains(&jdk.feature.to_string()), "{line}");

        // Two at once: the second is refused, and does the first no harm. Ctrl-C ends that one.
        let first = session(&program, &NAME, "3600s", "first.trodden")?.spawn()?;
        until_loaded(&pid)?;
        await_counts(&pid)?;
        let second = process::run(&mut session(&program, &pid, "1s", "second.trodden")?, LIMIT)?;
        assert_eq!(second.status.code(), Some(1), "{second:?}");
        assert!(second.stderr.contains("profiling runs already"), "{second:?}");
        assert!(!program.file("second.trodden").exists());
        let interrupt = ["-INT".to_owned(), first.id().to_string()];
        process::run(Command::new("kill").args(interrupt), LIMIT)?.success()?;
        let first = process::wait(first, LIMIT)?.success()?;
        assert!(first.stdout.contains(&format!("{}.one", *NAME)), "{first:?}");
        assert!(ran(&program.file("first.trodden"))?.contains("one"));

        // A later one knows nothing of what was counted before it.
        program.go_on()?;
        let file = program.file("later.trodden");
        let later = session_that_sees(&program, &pid, "later.trodden", |_| {
            Ok(ran(&file)?.contains("two"))
        })?;
        assert!(later.stderr.contains("written: "), "{later:?}");
        let found = ran(&file)?;
        assert!(found.contains("two") && !found.contains("one"), "{found:?}");

        // The JVM ends meanwhile.
        let told = program.file("told");
        let mut last = session(&program, &pid, "3600s", "last.html")?
            .stdout(Stdio::null())
            .stderr(fs::File::create(&told)?)
            .spawn()?;
        await_that("the session has begun", || {
            Ok(fs::read_to_string(&told)?.contains("profiling"))
        })?;
        await_counts(&pid)?;
        program.go_on()?;
        program.close();
        let ended = last.wait()?;
        let told = fs::read_to_string(&told)?;
        assert!(ended.success(), "{told}");
        assert!(told.contains("the JVM ended before the time was over"), "{told}");
        assert!(fs::read_to_string(program.file("last.html"))?.contains(&format!("{}.two", *NAME)));
        program.says("true")?;
        program.ends()?;
    }
    Ok(())
}

#[test]
fn what_cannot_be() -> Result<()> {
    let trodden = |words: &[&str]| {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        process::run(command.arg("attach").args(words), LIMIT)
    };
    let unknown = trodden(&["NoSuchMainAnywhere", "--for", "1s"])?;
    assert_eq!(unknown.status.code(), Some(1));
    assert!(
        unknown.stderr.contains("no JVM is called 'NoSuchMainAnywhere'"),
        "{unknown:?}"
    );
    for (words, message) in [
        (&["1", "--for", "soon"][..], "not a duration"),
        (&["1", "start", "--for", "1s"], "cannot be used with"),
        (&["1"], "trodden attach 1 --for 30s"),
        (&["1", "start", "-o", "x.html"], "go with --for TIME"),
    ] {
        let outcome = trodden(words)?;
        assert_eq!(outcome.status.code(), Some(2), "{words:?}: {outcome:?}");
        assert!(outcome.stderr.contains(message), "{words:?}: {outcome:?}");
    }
    // Found before the JVM is asked for anything.
    let nowhere = trodden(&["1", "--for", "1s", "-o", "/nonexistent/folder/x.html"])?;
    assert!(
        !nowhere.status.success() && nowhere.stderr.contains("/nonexistent/folder"),
        "{nowhere:?}"
    );
    Ok(())
}

#[test]
fn without_an_end_only_time_is_sampled_until_it_is_stopped() -> Result<()> {
    let _alone = alone();
    for jdk in &Jdk::ends()? {
        let mut program = Talker::start(jdk, &NAME, &PROGRAM.replace("Attendee", &NAME))?;
        let pid = program.pid();
        let attach = |arguments: &[&str]| -> Result<process::Outcome> {
            let mut command = Command::new(&artefacts::artefacts()?.cli);
            command.args(["attach", &pid]).args(arguments);
            process::run(&mut command, LIMIT)
        };
        let file = program.file("always.trodden").display().to_string();
        let page = program.file("always.html").display().to_string();
        let refused = attach(&["--for", "0", "-o", &page])?;
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        let begun = attach(&["--for", "0", "-o", &file, "--dump", "100ms"])?.success()?;
        assert!(
            begun.stderr.contains(&format!("trodden attach {pid} stop")),
            "{begun:?}"
        );
        program.go_on()?;
        await_that("it is written while the program runs", || {
            Ok(Path::new(&file).exists())
        })?;
        attach(&["stop"])?.success()?;
        let profile = Profile::load(Path::new(&file))?;
        assert!(profile.cpu.is_some() && profile.classes.is_empty());
        program.go_on()?;
        program.says("true")?;
    }
    Ok(())
}

/// Calls `steps`, whose loop has two paths, all the time, on a thread that ran before the agent came.
const BUSY: &str = "public class AttendeeBusy {
    static int steps(int from) {
        int sum = 0;
        for (int i = from; i < from + 1000; i++) {
            if (i % 7 == 0) {
                sum += Integer.toString(i).hashCode();
            } else {
                sum ^= i;
            }
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        System.out.println(\"ready\");
        int sum = 0;
        while (System.in.available() == 0) {
            for (int i = 0; i < 1000; i++) {
                sum += steps(i);
            }
        }
        System.out.println(sum != 0);
    }
}
";

#[test]
fn samples_of_threads_that_ran_before_wait_for_their_paths() -> Result<()> {
    for jdk in &Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("AttendeeBusy.java"), BUSY)?;
        let mut javac = jdk.command("javac");
        process::run(
            javac.args(["-g", "AttendeeBusy.java"]).current_dir(folder.path()),
            LIMIT,
        )?
        .success()?;
        // Without -Xcheck:jni, with which no sample waits.
        let mut java = jdk.command("java");
        java.args(["-XX:+EnableDynamicAgentLoading", "-cp", ".", "AttendeeBusy"]);
        let program = Talker::launch(java, folder)?;
        process::run(
            &mut session(&program, &program.pid(), "3s", "busy.trodden")?,
            LIMIT,
        )?
        .success()?;
        let profile = Profile::load(program.file("busy.trodden"))?;
        let waits = profile.cpu.ok_or("no samples")?.waits.innermost;
        assert!(waits.asked.samples > 20, "{waits:?}");
        assert!(10 * waits.answered.ns > 9 * waits.asked.ns, "{waits:?}");
    }
    Ok(())
}

/// The methods of a running JVM that handle requests: from when it has compiled its code with probes.
#[test]
fn requests_of_a_running_jvm() -> Result<()> {
    let _alone = alone();
    for jdk in &Jdk::ends()? {
        let program = Talker::start(jdk, &NAME, &PROGRAM.replace("Attendee", &NAME))?;
        let handler = format!("{}#one", *NAME);
        let file = program.file("requests.trodden");
        let options = ["--requests", &handler];
        let sees = |outcome: &process::Outcome| {
            assert!(outcome.stderr.contains("profiling"), "{outcome:?}");
            let profile = Profile::load(&file)?;
            let requests = profile.requests.as_ref();
            let handled = requests.and_then(|requests| requests.names.iter().find(|of| of.name == handler));
            Ok(handled.is_some_and(|handled| {
                assert!(handled.count() > 0 && handled.samples.iter().all(|one| one.weight >= 1.0));
                true
            }))
        };
        session_with_that_sees(&program, &program.pid(), "requests.trodden", &options, sees)?;
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        let said = process::run(command.args(["attach", &program.pid(), "status"]), LIMIT)?
            .success()?
            .stdout;
        let compilers = said.lines().find_map(|line| line.strip_prefix("compilers: "));
        assert!(compilers.ok_or(said.clone())?.parse::<f64>()? > 0.0, "{said}");
    }
    Ok(())
}
