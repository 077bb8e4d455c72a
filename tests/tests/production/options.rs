//! Options in real JVMs: patterns that match nothing, options that exclude each other, places where no
//! file can be written, and one run after another with other options.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::stress::java;
use trodden_tests::{Result, artefacts, build};

const LIMIT: Duration = Duration::from_secs(600);

const CART: &str = "package com.acme.shop;
public class Cart {
    public static void main(String[] args) {
        for (int i = 0; i < 3; i++) {
            System.out.println(i);
        }
    }
}
";
const OUTPUT: &str = "0\n1\n2\n";

/// A program in a folder of its own.
struct Shop {
    folder: tempfile::TempDir,
    jdk: Jdk,
}

impl Shop {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("Cart.java");
        fs::write(&source, CART)?;
        let jdk = Jdk::oldest()?;
        build::javac(&jdk, "", &[source], folder.path())?;
        Ok(Shop { folder, jdk })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command here. The program in it runs as ever, whatever the options are.
    fn run(&self, mut command: Command) -> Result<Outcome> {
        command
            .current_dir(self.folder.path())
            .env_remove("JAVA_TOOL_OPTIONS");
        process::run(&mut command, LIMIT)?.success()
    }

    /// The program under the agent; what is on standard error.
    fn agent(&self, options: &str) -> Result<String> {
        let agent = artefacts::artefacts()?.agent.display();
        let mut java = self.jdk.command("java");
        java.arg(format!("-agentpath:{agent}=start,{options}"));
        java.args(["-cp", ".", "com.acme.shop.Cart"]);
        let outcome = self.run(java)?;
        assert_eq!(outcome.stdout, OUTPUT, "{options}");
        Ok(outcome.stderr)
    }

    /// `trodden run` on a command.
    fn trodden(&self, options: &[&str], program: &[&str]) -> Result<Outcome> {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        command.arg("run").args(options).arg("--").args(program);
        command
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env_remove("JAVA_TOOL_OPTIONS");
        process::run(&mut command, LIMIT)
    }

    fn java(&self) -> String {
        self.jdk.home.join("bin/java").display().to_string()
    }

    /// A script that runs the program, as a build tool would.
    fn launcher(&self) -> Result<()> {
        let launcher = self.path("launch");
        let text = format!("#!/bin/sh\nexec {} -cp . com.acme.shop.Cart\n", self.java());
        fs::write(&launcher, text)?;
        fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }
}

#[test]
fn a_pattern_that_matches_no_class_is_reported_at_the_end_with_near_names() -> Result<()> {
    let shop = Shop::new()?;
    let warned = |told: &str| told.contains("matches no");
    // By the agent: each pattern alone.
    for (include, near) in [
        ("com.acne.*", Some("com.acme.*")),
        ("com.acme.shop.cart", Some("com.acme.shop.Cart")),
        ("Cart", Some("com.acme.shop.Cart")),
        ("org.elsewhere.*", None),
    ] {
        for all in [include.to_owned(), format!("com.acme.shop.Cart+{include}")] {
            let told = shop.agent(&format!("probe=counters,include={all},file=a.trodden"))?;
            let line = told.lines().find(|line| warned(line)).unwrap_or_default();
            assert!(
                line.contains(&format!("include={include} matches none of the ")),
                "{told}"
            );
            match near {
                Some(near) => assert!(line.contains(&format!("did you mean {near}")), "{told}"),
                None => assert!(!line.contains("did you mean"), "{told}"),
            }
        }
    }
    let told = shop.agent("probe=counters,include=com.acme.*,file=a.trodden")?;
    assert!(!warned(&told), "{told}");
    // By `trodden run`: once, whether it starts the JVM or a launcher does.
    shop.launcher()?;
    let java = shop.java();
    let direct = [java.as_str(), "-cp", ".", "com.acme.shop.Cart"];
    for program in [&direct[..], &["./launch"]] {
        let outcome = shop.trodden(&["--include", "com.acne.*"], program)?.success()?;
        assert_eq!(outcome.stdout, OUTPUT);
        let lines: Vec<&str> = outcome.stderr.lines().filter(|line| warned(line)).collect();
        assert_eq!(lines.len(), 1, "{}", outcome.stderr);
        assert!(
            lines[0].contains("com.acne.*") && lines[0].contains("did you mean com.acme.*"),
            "{}",
            outcome.stderr
        );
        let outcome = shop.trodden(&["--include", "com.acme.*"], program)?.success()?;
        assert!(!warned(&outcome.stderr), "{}", outcome.stderr);
    }
    Ok(())
}

/// What cannot work: options for the agent and for `trodden run`, and what both say.
const IMPOSSIBLE: [(&str, &[&str], &str); 8] = [
    (
        "probe=counters,file=no/such/a.trodden",
        &["--probe", "counters", "--file", "no/such/a.trodden"],
        "no/such does not exist; create it",
    ),
    (
        "probe=counters,file=/proc/self/a.trodden",
        &["--probe", "counters", "--file", "/proc/self/a.trodden"],
        "no file can be written to the folder /proc/self",
    ),
    ("weight=time", &["--weight", "time"], "is for "),
    ("k=10", &["--k", "10"], "is for "),
    (
        "probe=counters,schedule=timer",
        &["--probe", "counters", "--schedule", "timer"],
        "or leave it out",
    ),
    ("interval=5ms", &["--interval", "5ms"], "is for "),
    (
        "profile=contexts,algorithm=lc",
        &["--profile", "contexts", "--algorithm", "lc"],
        "taken by 'trodden replay' only",
    ),
    (
        "profile=subpaths,counts=exact",
        &["--profile", "subpaths", "--counts", "exact"],
        "taken by 'trodden replay' only",
    ),
];

#[test]
fn what_cannot_work_is_found_before_the_program_starts() -> Result<()> {
    let shop = Shop::new()?;
    let java = shop.java();
    for (options, words, message) in IMPOSSIBLE {
        // The agent leaves the program alone, and says why there is no profile before its first line.
        let told = shop.agent(options)?;
        assert!(told.contains(message), "{options}: {told}");
        let outcome = shop.trodden(words, &[&java, "-cp", ".", "com.acme.shop.Cart"])?;
        assert!(!outcome.status.success(), "{words:?}");
        assert!(outcome.stderr.contains(message), "{words:?}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "the program ran with {words:?}");
    }
    let written: Vec<String> = fs::read_dir(shop.folder.path())?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    assert!(
        !written.iter().any(|name| name.contains("trodden")),
        "{written:?}"
    );
    Ok(())
}

/// A folder that this user may not write to. Root may, so there it is a test of nothing.
#[test]
fn a_folder_without_permission_is_found_before_the_program_starts() -> Result<()> {
    let shop = Shop::new()?;
    let locked = shop.path("locked");
    fs::create_dir(&locked)?;
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555))?;
    if fs::write(locked.join("x"), "").is_ok() {
        eprintln!("SKIPPED: this user may write everywhere");
        return Ok(());
    }
    let told = shop.agent("probe=counters,file=locked/a.trodden")?;
    assert!(told.contains("locked"), "{told}");
    let java = shop.java();
    let outcome = shop.trodden(
        &["--file", "locked/a.trodden"],
        &[&java, "-cp", ".", "com.acme.shop.Cart"],
    )?;
    assert_eq!(outcome.status.code(), Some(1), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    Ok(())
}

fn number(profile: &Profile, name: &str) -> u64 {
    let value = profile.run.facts.text(name);
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or_else(|| panic!("no fact {name}"))
}

fn total(profile: &Profile) -> u64 {
    let all = profile.classes.iter().flat_map(|class| &class.counts);
    all.map(|counts| counts.total()).sum()
}

/// Waits until a JVM that is just starting can be asked.
fn ready(pid: &str) -> Result<()> {
    let since = Instant::now();
    while let Err(error) = attach(&["attach", pid, "status"]) {
        if since.elapsed() > LIMIT {
            return Err(error);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Asks for a dump until it has counts.
fn dump(pid: &str, file: &Path) -> Result<Profile> {
    let since = Instant::now();
    loop {
        attach(&["attach", pid, "dump"])?;
        let profile = Profile::load(file)?;
        if total(&profile) > 0 {
            return Ok(profile);
        }
        if since.elapsed() > LIMIT {
            return Err(format!("nothing is counted: {:?}", profile.run.facts).into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn attach(arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    Ok(process::run(command.args(arguments), LIMIT)?.success()?.stdout)
}

#[test]
fn stopped_and_started_with_another_schedule_is_another_profile() -> Result<()> {
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let mut program = java("Steady", &jdk, &["-Xcheck:jni".to_owned()], &[])?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let pid = program.id().to_string();
        ready(&pid)?;
        let mut before: Option<Profile> = None;
        for (round, schedule) in ["sag:64:17", "timer", "sag:8:3", "span:500us:64"]
            .iter()
            .enumerate()
        {
            let file = folder.path().join(format!("{round}.trodden"));
            let name = file.display().to_string();
            let start = [
                "attach",
                &pid,
                "start",
                "--probe",
                "yieldpoint",
                "--interval",
                "2ms",
            ];
            let rest = ["--schedule", schedule, "--include", "SteadyWork", "--file", &name];
            attach(&[&start[..], &rest].concat())?;
            dump(&pid, &file)?;
            attach(&["attach", &pid, "stop"])?;
            let profile = Profile::load(&file)?;
            assert_eq!(profile.run.schedule.as_deref(), Some(*schedule));
            assert_eq!(profile.run.interval_ns, Some(2_000_000));
            assert!(!profile.run.exact);
            // It begins from nothing: it counts only samples of its own.
            if !schedule.starts_with("span") {
                assert_eq!(total(&profile), number(&profile, "samples"), "{schedule}");
            }
            if let Some(before) = before.replace(profile.clone()) {
                assert!(before.run.started_ms < profile.run.started_ms, "{schedule}");
            }
        }
        // An option of another probe is refused, and nothing is recorded by halves.
        let mut refused = Command::new(&artefacts::artefacts()?.cli);
        refused.args([
            "attach",
            &pid,
            "start",
            "--probe",
            "counters",
            "--schedule",
            "timer",
        ]);
        let refused = process::run(&mut refused, LIMIT)?;
        assert_eq!(refused.status.code(), Some(2), "{}", refused.stderr);
        let status = attach(&["attach", &pid, "status"])?;
        assert!(!status.contains("running"), "{status}");
        drop(program.stdin.take());
        // Nothing but the number of its rounds: neither the agent nor the JVM has a word to say there.
        let [rounds]: [u64; 1] = process::wait(program, LIMIT)?.success()?.numbers()?;
        assert!(rounds > 0);
    }
    Ok(())
}

#[test]
fn values_of_arguments_are_in_no_profile_and_no_export_unless_asked_for() -> Result<()> {
    let shop = Shop::new()?;
    let java = shop.java();
    let program = [
        &*java,
        "-cp",
        ".",
        "com.acme.shop.Cart",
        "serve",
        "--token=s3cret",
        "--pw",
        "s3cret two",
    ];
    let exports = [
        "x.json",
        "x.html",
        "x.txt",
        "x.collapsed",
        "x.otlp.json",
        "x.firefox.json",
        "x.callgrind",
        "x.sarif",
        "x.speedscope.json",
    ];
    for (options, kept) in [(&[][..], false), (&["--arguments", "all"][..], true)] {
        let outcome = shop
            .trodden(&[&["-o", "x.trodden"], options].concat(), &program)?
            .success()?;
        assert_eq!(outcome.stderr.contains("s3cret"), kept, "{}", outcome.stderr);
        let command = Profile::load(shop.path("x.trodden"))?.run.command;
        if kept {
            assert_eq!(command, "com.acme.shop.Cart serve --token=s3cret --pw s3cret two");
        } else {
            assert_eq!(command, "com.acme.shop.Cart serve --token=… --pw …");
        }
        for export in exports {
            let mut report = Command::new(&artefacts::artefacts()?.cli);
            report.args(["report", "x.trodden", "-o", export]);
            shop.run(report)?;
            let text = fs::read_to_string(shop.path(export))?;
            assert!(kept || !text.contains("s3cret"), "{export}: {text}");
        }
        // A trace has them as little.
        shop.trodden(&[&["-o", "x.trace"], options].concat(), &program)?
            .success()?;
        let trace = fs::read(shop.path("x.trace"))?;
        let has = trace.windows(6).any(|bytes| bytes == b"s3cret");
        assert!(kept || !has);
    }
    Ok(())
}

#[test]
fn a_spool_folder_by_another_users_link_is_refused() -> Result<()> {
    let shop = Shop::new()?;
    let (open, real) = (shop.path("open"), shop.path("real"));
    fs::create_dir(&open)?;
    fs::create_dir(&real)?;
    fs::set_permissions(&open, fs::Permissions::from_mode(0o1777))?;
    let link = open.join("link");
    std::os::unix::fs::symlink(&real, &link)?;
    if std::os::unix::fs::lchown(&link, Some(65534), None).is_err() {
        eprintln!("not tested: only root gives links away");
        return Ok(());
    }
    let told = shop.agent(&format!("spool={},probe=counters", link.display()))?;
    assert!(told.contains("is another user's link"), "{told}");
    let spool = link.display().to_string();
    let outcome = shop.trodden(&["--spool", &spool], &[&shop.java(), "-version"])?;
    assert_eq!(outcome.status.code(), Some(1));
    assert!(
        outcome.stderr.contains("is another user's link"),
        "{}",
        outcome.stderr
    );
    assert_eq!(fs::read_dir(&real)?.count(), 0);
    Ok(())
}
