//! The parts that work without the agent: errors, exit codes, and `run` with a program that plays the
//! launcher.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use tempfile::TempDir;
use trodden_profile::options::{Level, options};
use trodden_profile::{Profile, RunInfo};

fn trodden() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trodden"));
    command
        .env_remove("JAVA_TOOL_OPTIONS")
        .env_remove("TRODDEN_AGENT")
        .env("NO_COLOR", "1");
    command
}

/// A directory with an "agent" (never loaded) and launchers that write the profile the agent would.
struct Room {
    directory: TempDir,
}

impl Room {
    fn new() -> Self {
        let room = Room {
            directory: TempDir::with_prefix("trodden cli ").unwrap(),
        };
        fs::write(room.path("libtrodden.so"), "no library").unwrap();
        profile("sample").save(room.path("sample.trodden")).unwrap();
        room
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn trodden(&self) -> Command {
        let mut command = trodden();
        command
            .current_dir(self.directory.path())
            .env("TRODDEN_AGENT", self.path("libtrodden.so"))
            .env("XDG_CACHE_HOME", self.path("cache"));
        command
    }
}

fn profile(command: &str) -> Profile {
    Profile {
        run: RunInfo {
            command: command.to_owned(),
            ..RunInfo::default()
        },
        ..Profile::default()
    }
}

/// Shell text that copies the sample to where the agent's option `file` in $1 says.
const PLAY_AGENT: &str =
    r#"f=$(printf '%s' "$1" | sed -e 's/.*,file=//' -e 's/[",].*//' -e "s/%p/$$/"); cp sample.trodden "$f""#;

#[test]
fn wrong_usage_is_2() {
    for (args, message) in [
        (&["frobnicate"][..], "frobnicate"),
        (&["run"], "COMMAND"),
        (
            &["run", "--probe", "counter", "--", "java"],
            "did you mean 'counters'?",
        ),
        (&["run", "--prob", "counters", "--", "java"], "--probe"),
        (
            &["run", "--profile", "structural+paths", "--", "java"],
            "'structural' stands alone",
        ),
        (
            &["run", "--probe", "counters", "-o", "a.trace", "--", "java"],
            "needs probe=events",
        ),
        (&["replay", "a.trace"], "--output"),
        (&["replay", "a.trace", "-o", "b.trace"], "a trace again"),
        (
            &["replay", "a.trace", "-o", "b.trodden", "--include", "a.*"],
            "option 'include' is about recording",
        ),
        (&["run", "--interval", "20", "--", "java"], "lacks a unit"),
        (
            &["run", "-o", "a", "--file", "b", "--", "java"],
            "cannot be used with",
        ),
        (&["run", "-o", "%q", "--", "java"], "unknown '%q'"),
        (&["attach", "1", "frob"], "frob"),
        (&["attach", "0", "status"], "0"),
        (&["report", "x", "--format", "pdf"], "pdf"),
        (&["instrument", "x.jar"], "--output"),
        (
            &["instrument", "x.jar", "-o", "y.jar", "--include", "a#b#c"],
            "more than one '#'",
        ),
    ] {
        trodden()
            .args(args)
            .assert()
            .code(2)
            .stdout(is_empty())
            .stderr(contains(message));
    }
}

#[test]
fn help_tells_options_and_exit_codes() {
    trodden()
        .arg("--help")
        .assert()
        .success()
        .stdout(contains("3 a check was broken"));
    let help_of = |command: &str, flag: &str| {
        let output = trodden().args([command, flag]).output().unwrap();
        assert!(output.status.success(), "{command} {flag}");
        String::from_utf8(output.stdout).unwrap()
    };
    // The options that a help explains begin a line.
    let explained = |help: &str| -> Vec<String> {
        // Names of options that are not explained stand further in.
        let lines = help
            .lines()
            .filter(|line| !line.starts_with(&" ".repeat(8)))
            .map(str::trim_start)
            .filter(|line| line.starts_with('-'));
        let words = lines.map(|line| line.split_whitespace().find(|word| word.starts_with("--")));
        // `--quiet[=<true|false>]`
        let name = |word: &str| word.split('[').next().unwrap_or_default().to_owned();
        words.flatten().map(name).collect()
    };
    for flag in ["--help", "-h"] {
        let help = help_of("run", flag);
        let mut ours = explained(&help);
        ours.retain(|name| !["--help", "--help-all", "--version"].contains(&name.as_str()));
        ours.sort();
        ours.dedup();
        // The names of the others are in their groups.
        let five = ["--exclude", "--include", "--output", "--profile", "--sources"];
        assert_eq!(ours, five, "{help}");
        for option in options() {
            let named = help.contains(&format!("--{}", option.name));
            assert!(
                named || option.level == Level::Research,
                "{}: {help}",
                option.name
            );
            assert!(!named || option.is_recorded(), "{}: {help}", option.name);
        }
        assert!(help.lines().count() < 60, "{help}");
    }
    let all = help_of("run", "--help-all");
    for option in options() {
        let explained = explained(&all).contains(&format!("--{}", option.name));
        assert_eq!(explained, option.is_recorded(), "{}", option.name);
    }
    assert!(all.lines().count() < 140, "{all}");
    let replay = help_of("replay", "--help");
    for option in options() {
        let taken = explained(&replay).contains(&format!("--{}", option.name));
        assert_eq!(taken, option.is_replayed(), "{}: {replay}", option.name);
    }
}

#[test]
fn what_would_spoil_the_result_is_found_before_the_program_starts() {
    let room = Room::new();
    let java = room.script("java", "touch started");
    let java = java.to_str().unwrap();
    for (args, code, message) in [
        (
            &["-o", "no/such/x.trodden"][..],
            1,
            "no/such does not exist; create it",
        ),
        (&["-o", "no/such/x.html"], 1, "no/such does not exist; create it"),
        (&["--file", "sample.trodden/x"], 1, "is not a folder"),
        (&["-o", "/proc/self/x.trodden"], 1, "no file can be written"),
        (&["--sources", "nowhere"], 1, "not a directory with sources"),
        (&["--weight", "time"], 2, "--weight is for --profile contexts"),
        (&["--k", "10"], 2, "--k is for --profile kpaths"),
        (
            &["--probe", "counters", "--schedule", "timer"],
            2,
            "use it with --probe yieldpoint, or leave it out",
        ),
        (&["--interval", "5ms"], 2, "--interval is for --probe yieldpoint"),
        (
            &["--profile", "subpaths", "--starts", "headers"],
            2,
            "taken by 'trodden replay' only",
        ),
        (
            &["--profile", "contexts", "--algorithm", "bss"],
            2,
            "taken by 'trodden replay' only",
        ),
        (
            &["--include", "a.*:b.*"],
            2,
            "patterns are joined by '+' or ',': a.*+b.*",
        ),
    ] {
        room.trodden()
            .arg("run")
            .args(args)
            .args(["--", java])
            .assert()
            .code(code)
            .stderr(contains(message));
        assert!(!room.path("started").exists(), "{args:?}");
    }
    // The same through a properties file.
    fs::write(room.path("p.properties"), "k=10\n").unwrap();
    room.trodden()
        .args(["run", "--config", "p.properties", java])
        .assert()
        .code(2)
        .stderr(contains("--k is for --profile kpaths"));
    assert!(!room.path("started").exists());
}

#[test]
fn launchers_need_neither_run_nor_two_hyphens() {
    let room = Room::new();
    let java = room.script("java", &format!("echo \"$@\"; {PLAY_AGENT}"));
    let java = java.to_str().unwrap();
    for args in [
        &[java, "-Dx=1", "--include", "Main"][..],
        &["run", java, "-Dx=1", "--include", "Main"],
        &["run", "--quiet", java, "-Dx=1", "--include", "Main"],
        &[
            "run",
            "--include",
            "a.*,b.*",
            "--",
            java,
            "-Dx=1",
            "--include",
            "Main",
        ],
    ] {
        room.trodden()
            .args(args)
            .assert()
            .success()
            .stdout(contains("-Dx=1 --include Main"));
    }
    room.trodden()
        .args(["run", "--include", "a.*,b.*", java])
        .assert()
        .success()
        .stdout(contains("include=a.*+b.*"));
    // Slips are recognized.
    for (args, near) in [
        (&["run", "jaav"][..], "did you mean 'java'?"),
        (&["repotr"], "report"),
        (&["run", "--incude", "x", "java"], "--include"),
        (&["run", "--use-profle", "5", "java"], "--use-profile"),
    ] {
        room.trodden()
            .args(args)
            .assert()
            .failure()
            .stderr(contains(near));
    }
}

#[test]
fn missing_and_broken_profiles_are_1() {
    let room = Room::new();
    let bytes = fs::read(room.path("sample.trodden")).unwrap();
    fs::write(room.path("short.trodden"), &bytes[..bytes.len() - 3]).unwrap();
    fs::write(room.path("foreign.trodden"), "hello, hello, hello").unwrap();
    for (file, message) in [
        ("nowhere.trodden", "nowhere.trodden"),
        ("short.trodden", "truncated"),
        ("foreign.trodden", "not a Trodden file"),
    ] {
        let commands: [&[&str]; 3] = [
            &["report", file],
            &["compare", "sample.trodden", file],
            &["merge", "sample.trodden", file, "-o", "merged.trodden"],
        ];
        for args in commands {
            room.trodden()
                .args(args)
                .assert()
                .code(1)
                .stdout(is_empty())
                .stderr(contains(message).and(contains(file)));
        }
    }
    assert!(!room.path("merged.trodden").exists());
}

#[test]
fn report_merge_and_compare_a_profile() {
    let room = Room::new();
    room.trodden()
        .args(["report", "sample.trodden"])
        .assert()
        .success()
        .stdout(contains("No path was counted"));
    room.trodden()
        .args(["report", "sample.trodden", "-o", "r.html"])
        .assert()
        .success()
        .stdout(is_empty());
    assert!(fs::read_to_string(room.path("r.html")).unwrap().contains("<html"));
    room.trodden()
        .args(["merge", "sample.trodden", "sample.trodden", "-o", "m.trodden"])
        .assert()
        .success();
    assert!(Profile::load(room.path("m.trodden")).is_ok());
    room.trodden()
        .args(["compare", "sample.trodden", "m.trodden", "--format", "json"])
        .assert()
        .success()
        .stdout(contains("\"path_accuracy\": null"));
}

#[test]
fn run_without_an_agent_or_a_command_is_1() {
    let room = Room::new();
    let mut run = room.trodden();
    run.env("TRODDEN_AGENT", "/nowhere/libtrodden.so")
        .args(["run", "--", "true"]);
    run.assert()
        .code(1)
        .stderr(contains("TRODDEN_AGENT").and(contains("/nowhere")));
    room.trodden()
        .args(["run", "--", "./nowhere"])
        .assert()
        .code(1)
        .stderr(contains("command not found"));
}

#[test]
fn java_gets_the_agent_as_first_argument() {
    let room = Room::new();
    room.script(
        "java",
        &format!("{PLAY_AGENT}\nprintf '%s\\n' \"$@\" \"[$JAVA_TOOL_OPTIONS]\"\nexit 7"),
    );
    let library = room.path("libtrodden.so").canonicalize().unwrap();
    let output = room
        .trodden()
        .args([
            "run",
            "--probe",
            "counters",
            "--include",
            "a.*",
            "--",
            "./java",
            "-jar",
            "x y.jar",
        ])
        .assert()
        .code(7)
        .stderr(
            contains("No path was counted")
                .and(contains("profile: "))
                .and(contains("-o page.html")),
        )
        .get_output()
        .clone();
    let lines: Vec<String> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    let agent = format!(
        "-agentpath:{}=start,probe=counters,include=a.*,file=",
        library.display()
    );
    assert!(lines[0].starts_with(&agent), "{}", lines[0]);
    assert!(
        lines[0].contains("/cache/trodden/runs/") && lines[0].ends_with("-%p.trodden,sample=2ms"),
        "{}",
        lines[0]
    );
    assert_eq!(lines[1..], ["-jar", "x y.jar", "[]"]);
}

#[test]
fn other_launchers_get_it_through_the_environment() {
    let room = Room::new();
    let play = PLAY_AGENT.replace("$1", "$JAVA_TOOL_OPTIONS");
    // Two JVMs: the shell's own pid, and another.
    room.script(
        "tool",
        &format!(
            "{play}\n(cp sample.trodden \"$(dirname \"$f\")/1.trodden\")\necho \"$JAVA_TOOL_OPTIONS|$*\""
        ),
    );
    room.trodden()
        .env("JAVA_TOOL_OPTIONS", "-Da=b")
        .args(["run", "-o", "both.json", "--", "./tool", "build"])
        .assert()
        .success()
        .stdout(predicates::str::starts_with("-Da=b \"-agentpath:").and(contains("|build")))
        .stderr(contains("report: ").and(contains("both.json")));
    let json: serde_json::Value = serde_json::from_slice(&fs::read(room.path("both.json")).unwrap()).unwrap();
    assert_eq!(json["format"], "trodden-report");
    let left: Vec<_> = fs::read_dir(room.directory.path())
        .unwrap()
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert!(
        !left
            .iter()
            .any(|name| name.to_string_lossy().starts_with(".trodden")),
        "{left:?}"
    );
}

#[test]
fn quiet_run_says_nothing_and_no_profile_is_told() {
    let room = Room::new();
    room.script("java", PLAY_AGENT);
    room.trodden()
        .args(["run", "--quiet", "-o", "q.trodden", "--", "./java"])
        .assert()
        .success()
        .stderr(is_empty());
    assert!(room.path("q.trodden").exists());
    // The file is there from before, so nothing new was written.
    room.script("java", "exit 3");
    let mut again = room.trodden();
    again.args(["run", "-o", "q.trodden", "--", "./java"]);
    again.assert().code(3).stderr(contains("no profile was written"));
}

/// The agent records; there is nothing to report yet, but the next step is printed.
#[test]
fn a_run_may_leave_a_trace() {
    let room = Room::new();
    room.script("java", PLAY_AGENT);
    let java = room.path("java");
    room.trodden()
        .args(["run", "-o", "x.trace", "--"])
        .arg(&java)
        .assert()
        .success()
        .stdout(is_empty())
        .stderr(contains("trodden replay").and(contains("x.trace")));
    assert!(room.path("x.trace").exists());
    let several = room.script("mvn", "exit 0");
    room.trodden()
        .args(["run", "-o", "y.trace", "--"])
        .arg(&several)
        .assert()
        .code(2)
        .stderr(contains("traces cannot be merged"));
}

#[test]
fn broken_profile_of_a_run_is_kept() {
    let room = Room::new();
    fs::write(room.path("sample.trodden"), "garbage").unwrap();
    room.script("java", PLAY_AGENT);
    room.trodden()
        .args(["run", "-o", "x.html", "--", "./java"])
        .assert()
        .success()
        .stderr(contains("kept the profile: ").and(contains("not a Trodden file")));
    assert!(!room.path("x.html").exists());
}

#[test]
fn death_by_signal_is_128_and_more() {
    let room = Room::new();
    room.script("java", "kill -KILL $$");
    room.trodden().args(["run", "--", "./java"]).assert().code(137);
}

#[test]
fn signals_are_handed_on() {
    for (signal, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let room = Room::new();
        room.script(
            "java",
            &format!(
                "trap 'echo caught > caught; exit {number}' {signal}\n: > ready\nwhile :; do sleep 0.05; done"
            ),
        );
        let mut child = Process::new(env!("CARGO_BIN_EXE_trodden"))
            .current_dir(room.directory.path())
            .env("TRODDEN_AGENT", room.path("libtrodden.so"))
            .args(["run", "--", "./java"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for(&room.path("ready"));
        let sent = Process::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(number), "{signal}");
        assert!(room.path("caught").exists(), "{signal}");
    }
}

fn wait_for(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(
            start.elapsed() < Duration::from_secs(600),
            "{} never came",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn attach_refuses_what_is_no_jvm() {
    let room = Room::new();
    let mut sleep = Process::new("sleep").arg("3600").spawn().unwrap();
    let pid = sleep.id().to_string();
    room.trodden()
        .args(["attach", &pid, "status"])
        .assert()
        .code(1)
        .stderr(contains("no HotSpot JVM"));
    assert!(sleep.try_wait().unwrap().is_none(), "the process was harmed");
    room.trodden()
        .args(["doctor", &pid])
        .assert()
        .code(1)
        .stdout(contains("no HotSpot JVM"));
    sleep.kill().unwrap();
    sleep.wait().unwrap();
    room.trodden()
        .args(["attach", "2147483647", "status"])
        .assert()
        .code(1)
        .stderr(contains("no process"));
}

#[test]
fn instrument_refuses_what_is_no_class_and_no_jar() {
    let room = Room::new();
    fs::write(room.path("x.class"), "text").unwrap();
    let mut instrument = room.trodden();
    instrument.args(["instrument", "x.class", "-o", "y.class"]);
    instrument
        .assert()
        .code(1)
        .stderr(contains("neither a class file nor a jar"));
    room.trodden()
        .args(["instrument", "none.jar", "-o", "y.jar"])
        .assert()
        .code(1)
        .stderr(contains("none.jar"));
    assert!(!room.path("y.class").exists() && !room.path("y.jar").exists());
}

#[test]
fn slips_of_the_first_word_are_seen() {
    for (given, meant) in [
        ("rnu", "run"),
        ("jav", "java"),
        ("gradel", "gradle"),
        ("mvnn", "mvn"),
    ] {
        let mut command = trodden();
        command.args([given, "x"]);
        command
            .assert()
            .code(2)
            .stderr(contains(format!("did you mean '{meant}'?")));
    }
}

#[test]
fn every_command_explains_all_its_options() {
    for words in [
        &["--help-all"][..],
        &["report", "--help-all"],
        &["gate", "record", "--help-all"],
    ] {
        trodden()
            .args(words)
            .assert()
            .success()
            .stdout(contains("Usage: trodden"));
    }
    let all = trodden().arg("--help-all").assert().success();
    let all = String::from_utf8(all.get_output().stdout.clone()).unwrap();
    for option in ["--again", "--call-sites", "--ignore-exit-code", "--path-limit"] {
        assert!(all.contains(option), "{option}");
    }
}

#[test]
fn an_attach_without_an_action_says_what_can_be_done() {
    trodden().args(["attach", "Server"]).assert().code(2).stderr(
        contains("trodden attach Server --for 30s")
            .and(contains("trodden attach Server start"))
            .and(contains("trodden top Server")),
    );
    // All durations are read alike.
    for time in ["1h", "2d", "90m"] {
        trodden()
            .args(["attach", "4194305", "--for", time, "--wait", "1s"])
            .assert()
            .code(1)
            .stderr(contains("no process 4194305"));
    }
}
