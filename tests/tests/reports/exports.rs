//! Stacks for other tools, read by these tools: speedscope (in a browser) and its JSON Schema, `go tool
//! pprof`, Firefox Profiler's command line, and flame graphs' lines. A tool that cannot be had is named, and
//! the test ends there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts, build, readers};

const LIMIT: Duration = Duration::from_secs(300);
/// Where the Java program is.
const SOURCES: &str = "exports";

fn trodden(arguments: &[&str], files: &[&Path]) -> Result<Outcome> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    command.args(arguments).args(files);
    command.env("TRODDEN_AGENT", &artefacts::artefacts()?.agent);
    process::run(&mut command, LIMIT)?.success()
}

/// The program, recorded with exact paths and with exact contexts.
struct Recorded {
    folder: tempfile::TempDir,
}

impl Recorded {
    fn new() -> Result<&'static Recorded> {
        static RECORDED: OnceLock<std::result::Result<Recorded, String>> = OnceLock::new();
        let recorded = RECORDED.get_or_init(|| Recorded::record().map_err(|e| e.to_string()));
        recorded.as_ref().map_err(|e| e.clone().into())
    }

    fn record() -> Result<Recorded> {
        let folder = tempfile::tempdir()?;
        let jdk = Jdk::newest()?;
        let classes = folder.path().join("classes");
        let source = Path::new(build::ROOT).join(SOURCES).join("demo/shop/Shop.java");
        let mut javac = jdk.command("javac");
        javac.args(["-g", "-d"]).arg(&classes).arg(source);
        process::run(&mut javac, LIMIT)?.success()?;
        for (name, options) in [
            ("paths", &["--probe", "counters"][..]),
            ("contexts", &["--profile", "contexts", "--algorithm", "exact"][..]),
        ] {
            let mut run = Command::new(&artefacts::artefacts()?.cli);
            // Stacks of counts; those of samples have tests of their own.
            run.args(["run", "--quiet", "--include", "demo.*", "--sample", "off"])
                .args(options);
            run.env("TRODDEN_AGENT", &artefacts::artefacts()?.agent);
            run.arg("-o")
                .arg(folder.path().join(name).with_extension("trodden"));
            run.arg("--").arg(jdk.command("java").get_program());
            run.arg("-cp").arg(&classes).arg("demo.shop.Shop");
            process::run(&mut run, LIMIT)?.success()?;
        }
        Ok(Recorded { folder })
    }

    fn profile(&self, name: &str) -> PathBuf {
        self.folder.path().join(name).with_extension("trodden")
    }

    /// A report in a format, as a file.
    fn export(&self, name: &str, format: &str, options: &[&str], file: &str) -> Result<PathBuf> {
        let out = self.folder.path().join(file);
        let options: Vec<&str> = [&["report", "--format", format][..], options].concat();
        trodden(&options, &[&self.profile(name), Path::new("-o"), &out])?;
        Ok(out)
    }

    /// How many paths ran, as the JSON report has it.
    fn executions(&self) -> Result<u64> {
        let json = trodden(&["report", "--format", "json"], &[&self.profile("paths")])?.stdout;
        let json: Value = serde_json::from_str(&json)?;
        json["totals"]["paths"].as_u64().ok_or("no total".into())
    }

    fn calls(&self) -> Result<u64> {
        let json = trodden(&["report", "--format", "json"], &[&self.profile("contexts")])?.stdout;
        let json: Value = serde_json::from_str(&json)?;
        json["contexts"]["calls"].as_u64().ok_or("no total".into())
    }
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let with_commas = |(at, digit): (usize, char)| {
        let comma = at > 0 && (digits.len() - at).is_multiple_of(3);
        if comma {
            format!(",{digit}")
        } else {
            digit.to_string()
        }
    };
    digits.chars().enumerate().map(with_commas).collect()
}

fn number(text: &str) -> u64 {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

#[test]
fn collapsed_stacks_split_by_path_keep_the_totals() -> Result<()> {
    let recorded = Recorded::new()?;
    let sum = |file: PathBuf| -> Result<(u64, Vec<String>)> {
        let text = fs::read_to_string(file)?;
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        Ok((
            lines
                .iter()
                .map(|line| number(line.rsplit(' ').next().unwrap_or("")))
                .sum(),
            lines,
        ))
    };
    let (paths, lines) = sum(recorded.export("paths", "collapsed", &[], "paths.collapsed")?)?;
    assert_eq!(paths, recorded.executions()?);
    // Most lookups hit: the path's own words are the leaf, below method, class and package.
    let hit = lines
        .iter()
        .find(|line| line.starts_with("demo.shop;demo.shop.Shop;demo.shop.Shop.price(String);Shop.price #"));
    assert!(
        hit.is_some_and(|line| line.contains("hit != null → ")),
        "{lines:#?}"
    );
    for line in &lines {
        assert!(line.matches(';').count() <= 3, "{line}");
    }
    let (methods, lines) =
        sum(recorded.export("paths", "collapsed", &["--stacks", "methods"], "m.collapsed")?)?;
    assert_eq!(methods, paths);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("demo.shop;demo.shop.Shop;demo.shop.Shop.order(int) "))
    );
    let weighed = &["--weight", "instructions"];
    let (instructions, _) = sum(recorded.export("paths", "collapsed", weighed, "i.collapsed")?)?;
    assert!(instructions > paths, "{instructions} {paths}");
    let (calls, lines) = sum(recorded.export("contexts", "collapsed", &[], "c.collapsed")?)?;
    assert_eq!(calls, recorded.calls()?);
    // main and the class initialiser ran once each: far below 0.01 % of the calls.
    assert!(
        lines.contains(&"[contexts below 0.01 %] 2".to_owned()),
        "{lines:#?}"
    );
    let (all, lines) = sum(recorded.export("contexts", "collapsed", &["--all"], "all.collapsed")?)?;
    assert_eq!(all, calls);
    assert!(lines.contains(&"demo.shop.Shop.main 1".to_owned()), "{lines:#?}");
    Ok(())
}

#[test]
fn callgrind_annotate_reads_what_the_file_says() -> Result<()> {
    let recorded = Recorded::new()?;
    let file = recorded.export("paths", "callgrind", &[], "paths.callgrind")?;
    let mut annotate = Command::new("callgrind_annotate");
    if annotate.arg("--version").output().is_err() {
        println!("skipped: no callgrind_annotate (valgrind)");
        return Ok(());
    }
    // Executions of all lines: line, nanoseconds, executions.
    let text = fs::read_to_string(&file)?;
    let costs = text.lines().filter_map(|line| {
        let words: Vec<u64> = line.split(' ').map_while(|word| word.parse().ok()).collect();
        <[u64; 3]>::try_from(words).ok()
    });
    let executions: u64 = costs.map(|[_, _, executions]| executions).sum();
    assert!(executions > 100_000, "{text}");
    let mut annotate = Command::new("callgrind_annotate");
    annotate.args(["--threshold=100", "--auto=no", "--show=Executions"]);
    annotate.arg("--sort=Executions").arg(&file);
    let said = process::run(&mut annotate, LIMIT)?.success()?.stdout;
    let of = |what: &str| said.lines().find(|line| line.contains(what)).map(number_at_begin);
    assert_eq!(of("PROGRAM TOTALS"), Some(executions), "{said}");
    assert!(
        of("demo/shop/Shop.java:demo.shop.Shop.price(String)").is_some_and(|times| times > 10_000),
        "{said}"
    );
    Ok(())
}

/// The number that a line of callgrind_annotate's begins with.
fn number_at_begin(line: &str) -> u64 {
    number(line.split_whitespace().next().unwrap_or_default())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: a reader from npm, in a browser")]
fn speedscope_opens_them() -> Result<()> {
    let recorded = Recorded::new()?;
    let (Some(speedscope), Some(browser)) = (readers::from_npm("speedscope"), readers::chromium()) else {
        return Ok(());
    };
    let schema = speedscope.join("dist/release/file-format-schema.json");
    for (name, total) in [("paths", recorded.executions()?), ("contexts", recorded.calls()?)] {
        let file = recorded.export(name, "speedscope", &[], &format!("{name}.speedscope.json"))?;
        let text = fs::read_to_string(&file)?;
        for found in readers::validate(&schema, &[file])?.unwrap_or_default() {
            assert_eq!(found, "ok", "{name}");
        }
        // As its own command line does it: a script that hands the file over, and the page that loads the
        // script.
        let script = recorded.folder.path().join(format!("{name}.js"));
        let bytes: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
        let code = format!(
            "speedscope.loadFileFromBase64('{name}.json', btoa(String.fromCharCode(...[{}])))",
            bytes.join(",")
        );
        fs::write(&script, code)?;
        let page = speedscope.join("dist/release/index.html");
        let mut command = Command::new(&browser);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
        ]);
        command.args(["--disable-component-update", "--disable-sync", "--no-first-run"]);
        command.args([
            "--disable-dev-shm-usage",
            "--disable-quic",
            "--virtual-time-budget=20000",
        ]);
        command.args(["--allow-file-access-from-files", "--window-size=1600,1200"]);
        command.arg(format!(
            "--user-data-dir={}",
            recorded.folder.path().join(format!("{name}-user")).display()
        ));
        command.arg("--dump-dom").arg(format!(
            "file://{}#view=sandwich&localProfilePath={}",
            page.display(),
            script.display()
        ));
        let dom = process::run(&mut command, LIMIT)?.success()?.stdout;
        assert!(
            dom.contains("demo.shop.Shop - speedscope"),
            "{name}: not loaded: {dom}"
        );
        // Its list of profiles has the sums of weights; with one profile there is no list.
        let instructions = name == "paths";
        assert!(
            !instructions || dom.contains(&thousands(total)),
            "{name}: not {total}: {dom}"
        );
        assert_eq!(dom.contains("(1/2)"), instructions, "{name}: {dom}");
    }
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: a reader in Go")]
fn pprof_reads_them() -> Result<()> {
    let recorded = Recorded::new()?;
    let mut go = Command::new("go");
    if !matches!(process::run(go.arg("version"), LIMIT), Ok(found) if found.status.success()) {
        println!("skipped: go is not there, so there is no 'go tool pprof'");
        return Ok(());
    }
    let pprof = |arguments: &[&str], file: &Path| -> Result<String> {
        let mut pprof = Command::new("go");
        pprof
            .args(["tool", "pprof", "-symbolize=none"])
            .args(arguments)
            .arg(file);
        Ok(process::run(&mut pprof, LIMIT)?.success()?.stdout)
    };
    let paths = recorded.export("paths", "pprof", &[], "paths.pb.gz")?;
    let top = pprof(&["-top", "-nodecount=100", "-nodefraction=0"], &paths)?;
    let total = recorded.executions()?;
    assert!(top.contains("Type: executions\n"), "{top}");
    assert!(
        top.contains(&format!("of {total} total")) || top.contains(&format!("100% of {total}")),
        "{top}"
    );
    // A path is a leaf: what is its own; a method is what its paths are.
    let row = |name: &str| -> Vec<String> {
        let line = top.lines().find(|line| line.contains(name));
        let line = line.unwrap_or_else(|| panic!("no {name}: {top}"));
        line.split_whitespace().take(5).map(str::to_owned).collect()
    };
    let hit = row("hit != null → ");
    assert_eq!(hit[0], hit[3], "{hit:?}");
    let method = row("demo.shop.Shop.price(String)");
    assert_eq!(method[0], "0", "{method:?}");
    // What it prints as raw samples adds up, for both values, to what collapsed stacks say.
    let raw = pprof(&["-raw"], &paths)?;
    let samples = raw
        .split("Samples:\n")
        .nth(1)
        .and_then(|text| text.split("Locations\n").next());
    let mut sums = [0u64; 2];
    for line in samples.ok_or("no samples")?.lines().skip(1) {
        let values: Vec<u64> = line
            .split(':')
            .next()
            .unwrap_or("")
            .split_whitespace()
            .map(number)
            .collect();
        sums[0] += values[0];
        sums[1] += values[1];
    }
    let weighed = recorded.export(
        "paths",
        "collapsed",
        &["--weight", "instructions"],
        "pprof.collapsed",
    )?;
    let instructions = fs::read_to_string(weighed)?;
    let instructions = instructions
        .lines()
        .map(|line| number(line.rsplit(' ').next().unwrap_or("")));
    assert_eq!(sums, [total, instructions.sum()]);
    let work = pprof(&["-top", "-sample_index=instructions"], &paths)?;
    assert!(work.contains("Type: instructions\n"), "{work}");
    let contexts = recorded.export("contexts", "pprof", &[], "contexts.pb.gz")?;
    let top = pprof(&["-top"], &contexts)?;
    let calls = recorded.calls()?;
    assert!(
        top.contains("Type: calls\n") && top.contains(&format!("Total samples = {calls} ")),
        "{top}"
    );
    assert!(
        top.lines()
            .any(|line| line.trim_end().ends_with("demo.shop.Shop.walk")),
        "{top}"
    );
    Ok(())
}

/// Loads a file by Firefox Profiler's reader; returns the folder of its session. `None` if its process did
/// not start in time, however often it was tried; that says nothing about the file.
fn loaded_by_firefox(reader: &Path, file: &Path) -> Result<Option<tempfile::TempDir>> {
    for _ in 0..8 {
        let home = tempfile::Builder::new().prefix("ff").tempdir_in("/tmp")?;
        let mut node = Command::new("node");
        node.arg(reader).arg("load").arg(file);
        node.env("PROFILER_CLI_SESSION_DIR", home.path());
        let outcome = process::run(&mut node, LIMIT)?;
        if outcome.status.success() {
            return Ok(Some(home));
        }
        if !outcome.stderr.contains("did not become ready within") {
            return Err(format!("{}: {}", file.display(), outcome.stderr).into());
        }
        // It may still be starting, and would serve a session that is not asked for any more.
        let after = outcome.stderr.split("as pid ").nth(1).unwrap_or_default();
        let pid: String = after.chars().take_while(char::is_ascii_digit).collect();
        if !pid.is_empty() {
            process::run(Command::new("kill").arg(&pid), LIMIT)?;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    Ok(None)
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: a reader from npm")]
fn firefox_profiler_reads_them() -> Result<()> {
    let recorded = Recorded::new()?;
    let Some(reader) = readers::from_npm("@firefox-devtools/profiler-cli/dist/profiler-cli.js") else {
        return Ok(());
    };
    for (name, total, function) in [
        ("paths", recorded.executions()?, "demo.shop.Shop.price(String)"),
        ("contexts", recorded.calls()?, "demo.shop.Shop.walk"),
    ] {
        let file = recorded.export(name, "firefox", &[], &format!("{name}.firefox.json"))?;
        // Its own process in the background gives up when it is not ready within half a second.
        let Some(home) = loaded_by_firefox(&reader, &file)? else {
            println!("skipped: Firefox Profiler's reader does not start in time here");
            return Ok(());
        };
        let ask = |arguments: &[&str]| {
            let mut node = Command::new("node");
            node.arg(&reader)
                .args(arguments)
                .env("PROFILER_CLI_SESSION_DIR", home.path());
            process::run(&mut node, LIMIT)?.success()
        };
        let answer = ask(&["thread", "functions", "--json", "--limit", "0"]);
        let stopped = ask(&["stop"]);
        let answer = answer?.stdout;
        stopped?;
        let json: Value = serde_json::from_str(&answer)?;
        let functions = json["functions"].as_array().ok_or("no functions")?;
        let own = functions
            .iter()
            .map(|one| one["selfSamples"].as_u64().unwrap_or(0));
        assert_eq!(own.sum::<u64>(), total, "{name}: {answer}");
        // What the reader calls a library is the part before an exclamation mark.
        let named = |one: &&Value| one["nameWithLibrary"].as_str() == Some(function);
        let found = functions.iter().find(named).ok_or("no such function")?;
        assert!(found["totalSamples"].as_u64() > Some(1_000), "{name}: {found}");
    }
    Ok(())
}

#[test]
fn what_has_no_stacks_says_what_has() -> Result<()> {
    let recorded = Recorded::new()?;
    let ask = |options: &[&str], name: &str| -> Result<Outcome> {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        command.arg("report").arg(recorded.profile(name)).args(options);
        process::run(&mut command, LIMIT)
    };
    for (options, name, said) in [
        (
            &["--format", "pprof", "--stacks", "calls"][..],
            "paths",
            "--profile contexts",
        ),
        (
            &["--format", "speedscope", "--stacks", "paths"],
            "contexts",
            "or with --profile paths, kpaths, structural or contexts",
        ),
        (
            &["--format", "collapsed", "--weight", "instructions"],
            "contexts",
            "have calls",
        ),
    ] {
        let outcome = ask(options, name)?;
        assert_eq!(outcome.status.code(), Some(1), "{options:?}");
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
    }
    Ok(())
}

/// The commands of docs/exports.md, one after the other.
#[test]
fn the_commands_of_the_documentation_work() -> Result<()> {
    let page = fs::read_to_string(Path::new(build::ROOT).join("../docs/exports.md"))?;
    let mut script = String::from("set -eu\n");
    for block in page.split("\n```").skip(1).step_by(2) {
        if let Some(("sh", text)) = block.split_once('\n') {
            script.push_str(&format!("{text}\n"));
        }
    }
    assert!(script.matches("trodden report").count() >= 6, "{script}");
    let recorded = Recorded::new()?;
    // Windows as a spool has them.
    let spool = recorded.folder.path().join("spool");
    fs::create_dir_all(&spool)?;
    for window in 1..=2 {
        let file = spool.join(format!("00112233445566778899aabbccddeeff-{window:08}.trodden"));
        fs::copy(recorded.profile("paths"), file)?;
    }
    let artefacts = artefacts::artefacts()?;
    let jdk = Jdk::newest()?;
    let tools = [
        jdk.home.join("bin"),
        artefacts.cli.parent().ok_or("no folder")?.to_owned(),
    ];
    let path = format!(
        "{}:{}:{}",
        tools[0].display(),
        tools[1].display(),
        std::env::var("PATH")?
    );
    let mut bash = Command::new("bash");
    bash.current_dir(recorded.folder.path()).arg("-c").arg(&script);
    bash.env("PATH", path)
        .env("TRODDEN_AGENT", &artefacts.agent)
        .env_remove("JAVA_TOOL_OPTIONS");
    let outcome = process::run(&mut bash, LIMIT)?.success()?;
    assert!(
        outcome
            .stdout
            .contains("demo.shop;demo.shop.Shop;demo.shop.Shop."),
        "{}",
        outcome.stdout
    );
    for file in [
        "shop.speedscope.json",
        "shop.pb.gz",
        "shop.firefox.json",
        "shop.otlp",
        "shop.otlp.json",
        "shop.callgrind",
        "shop.jfr",
        "spool/00112233445566778899aabbccddeeff-00000001.pb.gz",
        "spool/00112233445566778899aabbccddeeff-00000002.pb.gz",
        "shop.collapsed",
        "work.collapsed",
    ] {
        assert!(recorded.folder.path().join(file).is_file(), "{file}");
    }
    // The extension chose the format.
    let text = |file: &str| fs::read_to_string(recorded.folder.path().join(file));
    assert!(text("shop.speedscope.json")?.contains("speedscope.app/file-format-schema.json"));
    assert!(text("shop.firefox.json")?.contains("preprocessedProfileVersion"));
    assert!(text("shop.otlp.json")?.starts_with("{\"resourceProfiles\":"));
    // Its first field is a message.
    assert_eq!(fs::read(recorded.folder.path().join("shop.otlp"))?[0], 0x0a);
    Ok(())
}
