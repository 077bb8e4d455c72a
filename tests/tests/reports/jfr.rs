//! Files of Java Flight Recorder, read by the JDK's own reader and commands and by JDK Mission Control's
//! parser: samples of each method against the JSON report, lines against `javap`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::jdk::Jdk;
use trodden_tests::trace::MethodId;
use trodden_tests::{Result, artefacts, build, javap, process};

const LIMIT: Duration = Duration::from_secs(300);

/// Class with dots, name, descriptor, kind of frame.
type Method = [String; 4];
/// Samples at the top of the stack and anywhere on it.
type Samples = [u64; 2];

/// A program with CPU samples: its classes, the report in JSON, the recording.
struct Recorded {
    folder: tempfile::TempDir,
    json: Value,
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
        let shop = Path::new(build::ROOT).join("exports/demo/shop");
        let sources = ["Shop.java", "Rush.java"].map(|source| shop.join(source));
        build::javac(&jdk, ".", &sources, &folder.path().join("classes"))?;
        let mut run = Command::new(&artefacts::artefacts()?.cli);
        run.args(["run", "--quiet", "--include", "demo.*", "--sample", "1ms", "-o"]);
        run.env("TRODDEN_AGENT", &artefacts::artefacts()?.agent);
        run.arg(folder.path().join("rush.trodden"));
        run.arg("--").arg(jdk.command("java").get_program());
        run.arg("-cp")
            .arg(folder.path().join("classes"))
            .arg("demo.shop.Rush");
        process::run(&mut run, LIMIT)?.success()?;
        let report = |arguments: &[&str]| -> Result<String> {
            let mut report = Command::new(&artefacts::artefacts()?.cli);
            report.current_dir(folder.path()).args(["report", "rush.trodden"]);
            Ok(process::run(report.args(arguments), LIMIT)?.success()?.stdout)
        };
        report(&["-o", "rush.jfr"])?;
        let json = serde_json::from_str(&report(&["--format", "json"])?)?;
        Ok(Recorded { folder, json })
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("rush.jfr")
    }

    fn samples(&self) -> u64 {
        self.json["time"]["samples"].as_u64().unwrap_or_default()
    }

    /// Samples of each method, as the JSON report has them.
    fn methods(&self) -> BTreeMap<Method, Samples> {
        let methods = self.json["time"]["methods"].as_array().into_iter().flatten();
        let of = |method: &Value| {
            let text = |key: &str| method[key].as_str().unwrap_or_default().to_owned();
            let samples = |key: &str| method[key]["samples"].as_u64().unwrap_or_default();
            // What is no method has no parameters.
            let descriptor = match &*text("kind") {
                "other" => "()V".to_owned(),
                _ => text("descriptor"),
            };
            let class = text("class").replace('/', ".");
            let method = [class, text("name"), descriptor, text("kind")];
            (method, ["self", "total"].map(samples))
        };
        // Methods whose samples were all in probes have none.
        let methods = methods.map(of);
        methods.filter(|(_, samples)| *samples != [0, 0]).collect()
    }

    /// Compares what a reader prints with the report, and its lines with those that `javap` prints.
    fn check(&self, said: &str) -> Result<()> {
        let samples = self.samples();
        assert!(samples > 100, "{said}");
        let lines: Vec<Vec<&str>> = said.lines().map(|line| line.split('\t').collect()).collect();
        let mut methods = BTreeMap::new();
        let listings = javap::read(&Jdk::newest()?, &self.folder.path().join("classes"))?;
        let mut with_line = BTreeSet::new();
        for line in &lines {
            match line[..] {
                ["all", all, _, truncated, threads] => {
                    assert_eq!((all, truncated), (&*samples.to_string(), "0"));
                    assert!(threads.contains("all threads"), "{threads}");
                }
                ["method", class, name, descriptor, kind, own, total, ..] => {
                    let method = [class, name, descriptor, kind].map(str::to_owned);
                    methods.insert(method, [own.parse()?, total.parse()?]);
                }
                ["place", class, name, descriptor, _, bci, line] => {
                    let method = MethodId {
                        class: class.replace('.', "/"),
                        name: name.to_owned(),
                        descriptor: descriptor.to_owned(),
                    };
                    if let (Some(listing), Ok(bci)) = (listings.get(&method), bci.parse::<u32>()) {
                        assert!(listing.flow.contains_key(&bci), "{said}");
                        assert_eq!(listing.line(bci), line.parse().ok(), "{method:?} {bci}");
                        with_line.insert(name);
                    }
                }
                _ => return Err(format!("{line:?}").into()),
            }
        }
        assert_eq!(methods, self.methods());
        assert!(
            with_line.contains("price") && with_line.contains("order"),
            "{said}"
        );
        Ok(())
    }
}

/// What a program of `exports/jfr` prints of a recording.
fn read(jdk: &Jdk, program: &str, jars: Option<&Path>, file: &Path) -> Result<String> {
    let source = Path::new(build::ROOT)
        .join("exports/jfr")
        .join(format!("{program}.java"));
    let jars = jars.map(build::all_jars).unwrap_or_default();
    let classes = build::cached(
        program,
        std::slice::from_ref(&source),
        &[&jdk.feature.to_string()],
        |out| build::javac(jdk, &jars, std::slice::from_ref(&source), out),
    )?;
    let mut java = jdk.command("java");
    java.arg("-cp").arg(format!("{}:{jars}", classes.display()));
    java.arg(program).arg(file);
    Ok(process::run(&mut java, LIMIT)?.success()?.stdout)
}

#[test]
fn the_jdks_reader_has_the_samples_of_each_method() -> Result<()> {
    let recorded = Recorded::new()?;
    for jdk in Jdk::both()? {
        let said = read(&jdk, "ByJdk", None, &recorded.file())?;
        recorded.check(&said)?;
        // CPU time is that of the report, to the microsecond.
        let all = said.lines().find_map(|line| line.strip_prefix("all\t"));
        let ns: f64 = all
            .and_then(|all| all.split('\t').nth(1))
            .ok_or("no time")?
            .parse()?;
        let seconds = recorded.json["time"]["seconds"].as_f64().unwrap_or_default();
        assert!((ns / 1e9 - seconds).abs() < 1e-6, "{ns} {seconds}");
    }
    Ok(())
}

#[test]
fn the_command_jfr_reads_them() -> Result<()> {
    let recorded = Recorded::new()?;
    for jdk in Jdk::both()? {
        let jfr = |arguments: &[&str]| -> Result<String> {
            let mut jfr = jdk.command("jfr");
            jfr.args(arguments).arg(recorded.file());
            Ok(process::run(&mut jfr, LIMIT)?.success()?.stdout)
        };
        let summary = jfr(&["summary"])?;
        let row = summary.lines().find(|line| line.contains("jdk.ExecutionSample"));
        let count = row.and_then(|row| row.split_whitespace().nth(1));
        assert_eq!(count, Some(&*recorded.samples().to_string()), "{summary}");
        let printed = jfr(&["print", "--events", "jdk.ExecutionSample", "--stack-depth", "64"])?;
        let events: Vec<&str> = printed.split("jdk.ExecutionSample {").skip(1).collect();
        assert_eq!(events.len() as u64, recorded.samples());
        let is_price = |event: &&&str| event.contains("demo.shop.Shop.price(String)");
        let price = ["demo.shop.Shop", "price", "(Ljava/lang/String;)I", "java"].map(str::to_owned);
        let expected = recorded.methods()[&price][1];
        assert_eq!(events.iter().filter(is_price).count() as u64, expected);
        let about = jfr(&["print", "--events", "jdk.ActiveRecording,jdk.ActiveSetting"])?;
        assert!(about.contains("name = \"period\""), "{about}");
        assert!(
            about.contains("times and threads of samples are not known"),
            "{about}"
        );
        assert!(jfr(&["print", "--json"])?.starts_with('{'));
        assert!(jfr(&["metadata"])?.contains("samplingPeriod"));
    }
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: a reader from Maven Central")]
fn jmcs_parser_has_the_samples_of_each_method() -> Result<()> {
    let recorded = Recorded::new()?;
    let pom = Path::new(build::ROOT).join("exports/jfr/pom.xml");
    let jars = match build::jars_of("jmc", &pom) {
        Ok(jars) => jars,
        Err(why) => {
            println!("skipped: JDK Mission Control's parser cannot be had from Maven Central: {why}");
            return Ok(());
        }
    };
    for jdk in Jdk::both()? {
        recorded.check(&read(&jdk, "ByJmc", Some(&jars), &recorded.file())?)?;
    }
    Ok(())
}
