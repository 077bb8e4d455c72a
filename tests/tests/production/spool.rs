//! Windows in spool folders, by real JVMs: their sums, when they are written, and which JVMs write any.
//! Nothing here depends on how fast a JVM is: programs wait for windows, and tests for what programs do.

use std::fs;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use trodden_profile::spool::identity::{Draw, host_name};
use trodden_profile::spool::{Key, Window, list};
use trodden_profile::{Profile, facts};
use trodden_tests::jdk::Jdk;
use trodden_tests::process;
use trodden_tests::spool::{LIMIT, Place, Running, agent, assert_in_a_row, command, sum};
use trodden_tests::{Result, artefacts, build, pages};

/// Runs the program without windows, and with them: they have to add up to the same. Returns the sum.
fn add_up(jdk: &Jdk, options: &str, end: &str) -> Result<Profile> {
    let place = Place::new()?;
    let file = place.path("whole.trodden");
    let whole = format!("probe=counters,file={},include=Shift?*{options}", file.display());
    // Coverage and contexts have probes of their own.
    let whole = if options.contains("profile=") {
        whole.replace("probe=counters,", "")
    } else {
        whole
    };
    let alone = process::run(&mut command("Shift", jdk, Some(&whole), &["-", end])?, LIMIT)?;
    let whole = Profile::load(&file)?;
    fs::write(place.path("key"), "not to be guessed")?;
    let key = Key::read(&place.path("key"))?;
    let key_option = format!(",hmac-key={}{options}", place.path("key").display());
    let folder = place.spool().display().to_string();
    let mut spooling = command("Shift", jdk, Some(&place.options(&key_option)), &[&folder, end])?;
    let spooled = process::run(spooling.current_dir(place.folder.path()), LIMIT)?;
    assert_eq!(
        (&spooled.stdout, spooled.status),
        (&alone.stdout, alone.status),
        "{}",
        place.log()
    );
    assert_eq!(place.log(), "", "{options} {end}");
    let windows = place.windows(Some(&key))?;
    // Each of the three phases waits for two.
    assert!(windows.len() >= 6, "{} windows", windows.len());
    assert_in_a_row(&windows);
    let last = |window: &Window| window.profile.run.facts.get(facts::WINDOW_LAST).is_some();
    let lasts: Vec<bool> = windows.iter().map(last).collect();
    assert_eq!(lasts.iter().filter(|last| **last).count(), 1, "{lasts:?}");
    assert!(lasts[lasts.len() - 1], "{lasts:?}");
    let all = sum(&windows)?;
    assert_eq!(all.classes, whole.classes, "{options} {end} on {}", jdk.feature);
    assert_eq!(
        all.contexts.as_ref().map(|of| &of.tree),
        whole.contexts.as_ref().map(|of| &of.tree)
    );
    assert_eq!(all.coverage, whole.coverage);
    assert_eq!(all.conditions, whole.conditions);
    assert_eq!(all.skipped, whole.skipped);
    assert_eq!(
        (&all.run.probe, all.run.exact),
        (&whole.run.probe, whole.run.exact)
    );
    for fact in ["cut_paths", "open_paths", "lost", "panics"] {
        assert_eq!(all.run.facts.text(fact), whole.run.facts.text(fact), "{fact}");
    }
    assert_eq!(all.run.facts.get(facts::RUNS), Some(1));
    // No other file was written.
    let mut left: Vec<_> = fs::read_dir(place.folder.path())?
        .flatten()
        .map(|e| e.file_name())
        .collect();
    left.sort();
    assert_eq!(
        left,
        ["key", "log", "spool", "whole.trodden"].map(std::ffi::OsString::from)
    );
    Ok(all)
}

#[test]
fn windows_add_up_to_the_profile_of_the_whole_run() -> Result<()> {
    for jdk in Jdk::ends()? {
        for end in ["normal", "exit", "uncaught"] {
            let sum = add_up(&jdk, "", end)?;
            let facts = &sum.run.facts;
            assert_eq!(facts.text("service").as_deref(), Some("Shift"));
            let build = facts.text("build").unwrap_or_default();
            assert!(
                build.len() == 16 && build.bytes().all(|c| c.is_ascii_hexdigit()),
                "{build}"
            );
            assert_eq!(facts.get(facts::HOST), Some(host_name()));
            assert_eq!(facts.text("labels"), None);
        }
    }
    Ok(())
}

/// The commit that a build tool writes into a jar, packed by the JDK's own tool; by `-jar`, and on a
/// class path with a library that says another one.
#[test]
fn the_build_is_the_commit_in_the_jar_with_the_main_class() -> Result<()> {
    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
    let jdk = Jdk::oldest()?;
    let place = Place::new()?;
    let source = place.path("App.java");
    let body = "static int twice(int n) { return n < 1 ? 0 : 2 * n; }";
    let main = "public static void main(String[] a) { System.out.println(twice(a.length)); }";
    fs::write(&source, format!("public class App {{ {body} {main} }}"))?;
    build::javac(&jdk, ".", &[source], &place.path("classes"))?;
    fs::write(place.path("manifest"), format!("Git-Commit: {COMMIT}\n"))?;
    fs::write(place.path("other"), "Git-Commit: fedcba9876543210\n")?;
    fs::create_dir(place.path("empty"))?;
    for (jar, manifest, folder) in [
        ("app.jar", "manifest", "classes"),
        ("library.jar", "other", "empty"),
    ] {
        let mut pack = jdk.command("jar");
        pack.current_dir(place.folder.path());
        pack.args(["--create", "--file", jar, "--manifest", manifest]);
        if folder == "classes" {
            pack.args(["--main-class", "App"]);
        }
        pack.args(["-C", folder, "."]);
        process::run(&mut pack, LIMIT)?.success()?;
    }
    let flag = agent(&place.options_for("App#twice", ""))?;
    for arguments in [&["-jar", "app.jar"][..], &["-cp", "library.jar:app.jar", "App"]] {
        let mut java = jdk.command("java");
        java.current_dir(place.folder.path());
        process::run(java.arg(&flag).args(arguments), LIMIT)?.success()?;
    }
    let windows = place.windows(None)?;
    assert!(windows.len() >= 2, "{}", place.log());
    for window in windows {
        assert_eq!(window.profile.run.facts.text("build").as_deref(), Some(COMMIT));
    }
    Ok(())
}

/// Paths that exceptions cut off, and constructors that are in progress when a window ends.
#[test]
fn windows_add_up_where_exceptions_cut_paths() -> Result<()> {
    for jdk in Jdk::ends()? {
        for end in ["normal", "exit"] {
            let sum = add_up(&jdk, ",profile=coverage,coverage=paths", end)?;
            let partial = sum.classes.iter().flat_map(|class| &class.counts);
            assert!(partial.map(|counts| counts.partial.len()).sum::<usize>() > 2);
        }
    }
    Ok(())
}

#[test]
fn windows_of_contexts_and_coverage_add_up() -> Result<()> {
    for jdk in Jdk::ends()? {
        let contexts = add_up(&jdk, ",profile=contexts,algorithm=exact", "normal")?;
        assert!(
            contexts
                .contexts
                .is_some_and(|of| of.is_exact() && of.tree.nodes().len() > 5)
        );
        let names = ",profile=coverage,service=shop,build=v2,host=web-7,labels=zone:a+region:eu";
        let coverage = add_up_named(&jdk, names)?;
        assert!(coverage.coverage.is_some_and(|of| of.methods.len() > 5));
        let facts = &coverage.run.facts;
        let text = |name| facts.text(name).unwrap_or_default().into_owned();
        assert_eq!(
            ["service", "build", "host", "labels"].map(text),
            ["shop", "v2", "web-7", "region:eu+zone:a"]
        );
    }
    Ok(())
}

/// The same for options that apply with a spool folder only.
fn add_up_named(jdk: &Jdk, options: &str) -> Result<Profile> {
    let place = Place::new()?;
    let folder = place.spool().display().to_string();
    let options = place.options(options);
    process::run(
        &mut command("Shift", jdk, Some(&options), &[&folder, "normal"])?,
        LIMIT,
    )?
    .success()?;
    let file = place.path("whole.trodden");
    let whole = format!("profile=coverage,file={},include=Shift?*", file.display());
    process::run(&mut command("Shift", jdk, Some(&whole), &["-", "normal"])?, LIMIT)?.success()?;
    let (all, whole) = (sum(&place.windows(None)?)?, Profile::load(&file)?);
    assert_eq!((&all.classes, &all.coverage), (&whole.classes, &whole.coverage));
    Ok(all)
}

/// A full folder, and one that is gone: the program runs on, and what it counted comes with the next window.
#[test]
fn what_there_is_no_room_for_comes_later() -> Result<()> {
    let jdk = Jdk::oldest()?;
    for full in [true, false] {
        let place = Place::new()?;
        let file = place.path("whole.trodden");
        let ballast = place.path("spool/ballast");
        fs::write(&ballast, vec![0; 4 << 20])?;
        let mut options = place.options(&format!(",file={}", file.display()));
        if full {
            options.push_str(",spool-limit=4M");
        }
        let folder = place.spool().display().to_string();
        // It waits for windows, so it gets ahead only once there is room.
        let running = Running::start("Shift", &jdk, Some(&options), &[&folder, "input"])?;
        if !full {
            place.await_that("a window", |place| Ok(!place.windows(None)?.is_empty()))?;
            fs::rename(place.spool(), place.path("away"))?;
        }
        let word = if full { "is full" } else { "No such file" };
        place.await_that("a message", |place| Ok(place.log().contains(word)))?;
        if full {
            assert!(place.windows(None)?.is_empty());
            fs::remove_file(&ballast)?;
        } else {
            fs::rename(place.path("away"), place.spool())?;
        }
        place.await_that("the end", |place| Ok(place.windows(None)?.len() >= 6))?;
        let outcome = running.end()?;
        assert_eq!(outcome.stderr, "");
        let log = place.log();
        assert_eq!(log.matches("waits for the next window").count(), 1, "{log}");
        assert_eq!(log.matches("nothing was lost").count(), 1, "{log}");
        let windows = place.windows(None)?;
        assert_in_a_row(&windows);
        // The profile and the last window are from one reading.
        let (all, whole) = (sum(&windows)?, Profile::load(&file)?);
        assert_eq!(all.classes, whole.classes);
        assert!((all.run.seconds - whole.run.seconds).abs() < 1e-6);
    }
    Ok(())
}

#[test]
fn what_is_lost_at_the_end_is_said() -> Result<()> {
    let jdk = Jdk::oldest()?;
    let place = Place::new()?;
    let options = place.options(",spool-limit=1k");
    fs::write(place.path("spool/ballast"), vec![0; 1024])?;
    process::run(
        &mut command("Shift", &jdk, Some(&options), &["-", "normal"])?,
        LIMIT,
    )?
    .success()?;
    assert!(place.windows(None)?.is_empty());
    let log = place.log();
    let lost = log
        .lines()
        .find(|line| line.contains("there is still no room"))
        .unwrap_or_default();
    assert!(
        lost.ends_with(" path ends are lost") && !lost.contains(" 0 path ends"),
        "{log}"
    );
    Ok(())
}

/// A host whose draw in each of `periods` periods is known, since it goes in pairs: in, in, out, out, …
fn host(holds: u64, periods: u64) -> Result<(String, Draw)> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() / holds;
    for number in 0..u64::MAX {
        let draw = Draw {
            host: format!("host-{number}"),
            of: 2.try_into()?,
            holds: Duration::from_secs(holds),
        };
        let drawn = |period: u64| draw.is_drawn(UNIX_EPOCH + Duration::from_secs((now + period) * holds));
        if (0..periods).all(|period| drawn(period) == (period % 4 >= 2)) {
            return Ok((draw.host.clone(), draw));
        }
    }
    Err("no host".into())
}

#[test]
fn a_host_that_is_not_drawn_runs_its_own_code() -> Result<()> {
    let day = 86_400;
    for jdk in Jdk::ends()? {
        let place = Place::new()?;
        // Today, and should midnight come, tomorrow.
        let (host, draw) = host(day, 2)?;
        assert!(!draw.is_drawn(SystemTime::now()));
        let options = place.options_for(
            "SteadyWork",
            &format!(
                ",fleet=1/2,host={host},file={}",
                place.path("x.trodden").display()
            ),
        );
        let running = Running::start("Steady", &jdk, Some(&options), &[])?;
        // A JVM that is still starting answers before it has drawn.
        let mut status = String::new();
        place.await_that("a draw", |_| {
            status = running.attach(&["status"])?.unwrap_or_default();
            Ok(status.contains("fleet: "))
        })?;
        assert!(
            status.contains("state: idle") && status.contains("fleet: 1/2, not drawn"),
            "{status}"
        );
        // Classes would be instrumented if anything was.
        assert!(!status.contains("classes:"), "{status}");
        running.end()?;
        assert_eq!((place.log().as_str(), place.windows(None)?.len()), ("", 0));
        assert!(!place.path("x.trodden").exists());
    }
    Ok(())
}

#[test]
fn a_host_is_drawn_again_when_the_day_changes() -> Result<()> {
    for jdk in Jdk::ends()? {
        let place = Place::new()?;
        let (host, _) = host(5, 14)?;
        let options = place.options_for("SteadyWork", &format!(",fleet=1/2:5s,host={host},loglevel=info"));
        let running = Running::start("Steady", &jdk, Some(&options), &[])?;
        place.await_that("a recording", |place| Ok(!place.windows(None)?.is_empty()))?;
        place.await_that("its end", |place| Ok(place.log().contains("not drawn any more")))?;
        place.await_that("another recording", |place| {
            let windows = place.windows(None)?;
            Ok(windows
                .iter()
                .any(|window| window.name.jvm_id != windows[0].name.jvm_id))
        })?;
        running.end()?;
        let windows = place.windows(None)?;
        let recordings: Vec<&[Window]> = windows.chunk_by(|a, b| a.name.jvm_id == b.name.jvm_id).collect();
        for windows in recordings {
            assert_in_a_row(windows);
            let last = &windows[windows.len() - 1].profile;
            assert_eq!(last.run.facts.text("window_last").as_deref(), Some("true"));
            assert_eq!(last.run.facts.text("fleet").as_deref(), Some("1/2"));
            let all = sum(windows)?;
            let total: u64 = all
                .classes
                .iter()
                .flat_map(|class| &class.counts)
                .map(|c| c.total())
                .sum();
            assert!(total > 0);
        }
    }
    Ok(())
}

/// Attached twice: each start is a recording of its own, and its windows add up to the file that stop writes.
#[test]
fn windows_of_a_jvm_that_is_attached_to() -> Result<()> {
    for jdk in Jdk::ends()? {
        let place = Place::new()?;
        let running = Running::start("Steady", &jdk, None, &[])?;
        // One that is still starting cannot be attached to.
        place.await_that("the JVM", |_| Ok(running.attach(&["status"])?.is_ok()))?;
        let spool = place.spool().display().to_string();
        let start = [
            "start",
            "--spool",
            &spool,
            "--dump",
            "50ms",
            "--include",
            "SteadyWork",
        ];
        let mut known = Vec::new();
        for round in 0..2 {
            running.attach(&start)?.map_err(|e| format!("start: {e}"))?;
            let more = known.len() + 3;
            place.await_that("windows", |place| Ok(place.windows(None)?.len() >= more))?;
            let dumped = running.attach(&["dump"])?.map_err(|e| format!("dump: {e}"))?;
            assert!(dumped.contains("window: ") && dumped.contains(&spool), "{dumped}");
            let refused = running.attach(&["reset"])?.unwrap_err();
            assert!(
                refused.contains("with a spool folder nothing is forgotten"),
                "{refused}"
            );
            let file = place.path(&format!("{round}.trodden"));
            let file_name = file.display().to_string();
            let stopped = running.attach(&["stop", "--file", &file_name])?;
            let stopped = stopped.map_err(|e| format!("stop: {e}"))?;
            assert!(
                stopped.contains("window: ") && stopped.contains(&file_name),
                "{stopped}"
            );
            let windows = place.windows(None)?;
            let new = windows
                .into_iter()
                .filter(|window| !known.contains(&window.name.jvm_id));
            let new: Vec<Window> = new.collect();
            assert_in_a_row(&new);
            let (all, whole) = (sum(&new)?, Profile::load(&file)?);
            assert_eq!(all.classes, whole.classes, "recording {round}");
            assert_eq!(all.cpu.map(|cpu| cpu.total()), whole.cpu.map(|cpu| cpu.total()));
            known.push(new[0].name.jvm_id.clone());
        }
        running.end()?;
    }
    Ok(())
}

/// Two JVMs share a folder; one is killed in the middle of it.
#[test]
fn a_killed_jvm_leaves_whole_windows_only() -> Result<()> {
    for jdk in Jdk::ends()? {
        let place = Place::new()?;
        fs::write(place.path("key"), "not to be guessed")?;
        let key = Key::read(&place.path("key"))?;
        let options = place.options_for(
            "SteadyWork",
            &format!(",hmac-key={}", place.path("key").display()),
        );
        let options = options.replace("dump=40ms", "dump=5ms");
        let (killed, other) = (
            Running::start("Steady", &jdk, Some(&options), &[])?,
            Running::start("Steady", &jdk, Some(&options), &[])?,
        );
        place.await_that("windows of both", |place| {
            let windows = list(&place.spool())?;
            Ok(windows.len() > 20 && windows[0].name.jvm_id != windows[windows.len() - 1].name.jvm_id)
        })?;
        killed.kill()?;
        other.end()?;
        let windows = place.windows(Some(&key))?;
        let recordings: Vec<&[Window]> = windows.chunk_by(|a, b| a.name.jvm_id == b.name.jvm_id).collect();
        assert_eq!(recordings.len(), 2);
        recordings.iter().for_each(|windows| assert_in_a_row(windows));
        for entry in fs::read_dir(place.spool())?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let ours = [".trodden", ".trodden.hmac", ".tmp"]
                .iter()
                .any(|end| name.ends_with(end));
            assert!(ours, "{name}");
        }
    }
    Ok(())
}

#[test]
fn the_command_line_takes_the_options() -> Result<()> {
    let jdk = Jdk::oldest()?;
    let place = Place::new()?;
    let spool = place.spool().display().to_string();
    let mut java = command("Shift", &jdk, None, &["-", "normal"])?;
    java.current_dir(place.folder.path());
    let program: Vec<_> = std::iter::once(java.get_program())
        .chain(java.get_args())
        .collect();
    let run = |options: &[&str]| {
        let mut trodden = Command::new(&artefacts::artefacts()?.cli);
        trodden.arg("run").args(options).arg("--").args(&program);
        process::run(trodden.current_dir(place.folder.path()), LIMIT)
    };
    let outcome = run(&["--spool", "spool", "--include", "Shift?*"])?.success()?;
    assert!(
        outcome.stderr.contains(&format!("windows: {spool}")),
        "{}",
        outcome.stderr
    );
    // Nothing but windows, with samples of CPU time, as `trodden run` takes them.
    let windows = place.windows(None)?;
    assert!(windows.len() == 1 && windows[0].profile.cpu.is_some());
    assert_eq!(fs::read_dir(place.folder.path())?.count(), 1);
    let both = run(&["--spool", "spool", "--include", "Shift?*", "-o", "x.trodden"])?.success()?;
    assert!(both.stderr.contains("x.trodden"), "{}", both.stderr);
    let whole = Profile::load(place.path("x.trodden"))?;
    assert_eq!(place.windows(None)?.len(), 2);
    assert_eq!(whole.classes, sum(&windows)?.classes);
    for (options, message) in [
        (["--spool", "gone"], "the spool folder gone does not exist"),
        (
            ["--fleet", "1/2"],
            "--fleet is for windows in a spool folder; use it with --spool DIR",
        ),
    ] {
        let refused = run(&options)?;
        assert!(
            !refused.status.success() && refused.stdout.is_empty(),
            "{refused:?}"
        );
        assert!(refused.stderr.contains(message), "{}", refused.stderr);
    }
    Ok(())
}

/// The program runs without a profile then.
#[test]
fn bad_options_are_refused() -> Result<()> {
    let jdk = Jdk::oldest()?;
    let place = Place::new()?;
    fs::write(place.path("key"), "short\n")?;
    for (options, message) in [
        ("spool=gone", "spool: the folder gone: No such file or directory"),
        ("spool=key", "spool: key is not a folder"),
        (
            "spool=spool,spool-limit=many",
            "option 'spool-limit': 'many' is not a number of bytes",
        ),
        (
            "spool=spool,fleet=2/100",
            "option 'fleet': '2/100' is not 1/N, such as 1/100",
        ),
        ("spool=spool,fleet=1/0", "option 'fleet': '1/0' is not 1/N"),
        (
            "fleet=1/100",
            "option 'fleet' is for windows in a spool folder; use it with spool=DIR",
        ),
        (
            "spool=spool,fleet=1/2:5ms",
            "a draw holds for a whole number of seconds",
        ),
        (
            "spool=spool,labels=eu",
            "option 'labels': 'eu' is not KEY:VALUE, such as region:eu",
        ),
        (
            "spool=spool,labels=a:b+a:c",
            "label 'a:c': its key is given twice",
        ),
        ("spool=spool,service=", "option 'service': the name is empty"),
        (
            "spool=spool,hmac-key=gone",
            "hmac-key: gone: the key cannot be read",
        ),
        (
            "spool=spool,hmac-key=key",
            "hmac-key: key: the key has 5 bytes; it takes at least 16",
        ),
        (
            "spool=spool,profile=kpaths",
            "profile 'kpaths' cannot tell that; use profile=paths",
        ),
        ("spool=spool,profile=contexts", "use algorithm=exact with spool"),
        ("spool=spool,file=x.trace", "a trace has no windows"),
        ("spool=spool,budget=2%", "option 'budget' is for "),
    ] {
        let mut java = command("Shift", &jdk, Some(options), &["-", "normal"])?;
        let outcome = process::run(java.current_dir(place.folder.path()), LIMIT)?.success()?;
        assert!(outcome.stderr.contains(message), "{options}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains("runs without profiling"),
            "{options}: {}",
            outcome.stderr
        );
    }
    assert!(place.windows(None)?.is_empty());
    Ok(())
}

#[test]
fn the_commands_of_the_documentation_work() -> Result<()> {
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let (blocks, outcome) = pages::run("fleet/spool.md", &jdk, folder.path())?;
        assert!(blocks >= 4, "{blocks} blocks");
        let lines: Vec<&str> = outcome.stdout.lines().collect();
        // What windows add up to is what one profile of the same run says.
        let counts: Vec<&&str> = lines
            .iter()
            .filter(|line| line.contains("\"paths\": 300"))
            .collect();
        assert_eq!(counts.len(), 2, "{}", outcome.stdout);
        assert!(outcome.stdout.contains("drawn: 0 or 1 is "), "{}", outcome.stdout);
    }
    Ok(())
}
