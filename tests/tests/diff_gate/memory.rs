//! The memory of `trodden run`, and the methods that a run with `--again` leaves alone.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::SUSPICIOUS;
use trodden_tests::{Result, artefacts, build, process, readers};

const LIMIT: Duration = Duration::from_secs(300);

/// A program that is built, run, and built again, in a folder of its own.
struct Workplace {
    folder: tempfile::TempDir,
    jdk: Jdk,
}

impl Workplace {
    fn new(jdk: Jdk) -> Result<Self> {
        let workplace = Workplace {
            folder: tempfile::tempdir()?,
            jdk,
        };
        workplace.build(|text| text)?;
        Ok(workplace)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn build(&self, change: impl FnOnce(String) -> String) -> Result<()> {
        let source = Path::new(build::ROOT).join("stress/Learnt.java");
        let changed = self.path("Learnt.java");
        std::fs::write(&changed, change(std::fs::read_to_string(source)?))?;
        let mut javac = self.jdk.command("javac");
        javac.arg("-g").arg("-d").arg(self.path("classes")).arg(changed);
        process::run(&mut javac, LIMIT)?.success()?;
        Ok(())
    }

    /// `trodden run` with these options, of a program that does this; what it said, and the profile.
    fn run(&self, options: &[&str], work: &str) -> Result<(String, Profile)> {
        self.run_with(options, work, &[])
    }

    fn run_with(&self, options: &[&str], work: &str, arguments: &[&str]) -> Result<(String, Profile)> {
        let file = self.path("result.trodden");
        let mut command = self.command(&[&["-o", "result.trodden"], options].concat(), work, arguments)?;
        let outcome = process::run(&mut command, LIMIT)?.success()?;
        Ok((outcome.stderr, Profile::load(file)?))
    }

    fn command(&self, options: &[&str], work: &str, arguments: &[&str]) -> Result<Command> {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        command
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("LEARNT", work)
            .args(["run", "--memory-after", "1s", "--include", "Learnt"])
            .args(options)
            .arg(self.jdk.command("java").get_program())
            .args(SUSPICIOUS)
            .args(["-cp", "classes", "Learnt"])
            .args(arguments);
        Ok(command)
    }

    /// The JSON report of a profile, of which some methods are remembered, is what its schema says.
    fn is_as_the_schema_says(&self, profile: &str) -> Result<()> {
        let mut report = Command::new(&artefacts::artefacts()?.cli);
        report.current_dir(self.folder.path());
        report.args(["report", profile, "--format", "json"]);
        let text = process::run(&mut report, LIMIT)?.success()?.stdout;
        assert!(text.contains("\"earlier\": {"), "{text}");
        let document = self.path("report.json");
        std::fs::write(&document, text)?;
        let schema = Path::new(build::ROOT).join("../docs/schema/trodden-report.schema.json");
        if let Some(said) = readers::validate(&schema, &[document])? {
            assert_eq!(said, ["ok"]);
        }
        Ok(())
    }

    fn memories(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.path("cache/trodden"))
            .into_iter()
            .flatten();
        let files = files.flatten().map(|entry| entry.path());
        files
            .filter(|path| path.extension().is_some_and(|end| end == "memory"))
            .collect()
    }
}

/// Methods with probes.
fn measured(profile: &Profile) -> BTreeSet<&str> {
    let methods = profile.classes.iter().flat_map(|class| &class.map.methods);
    methods.map(|method| method.name.as_str()).collect()
}

/// Methods of which the profile says what earlier runs found.
fn remembered(profile: &Profile) -> BTreeSet<&str> {
    let found = profile.memory.iter().flat_map(|memory| &memory.found.classes);
    let methods = found.flat_map(|class| &class.map.methods);
    methods.map(|method| method.name.as_str()).collect()
}

fn total(profile: &Profile, name: &str) -> u64 {
    let methods = profile
        .classes
        .iter()
        .flat_map(|c| c.map.methods.iter().zip(&c.counts));
    methods
        .filter(|(map, _)| map.name == name)
        .map(|(_, counts)| counts.total())
        .sum()
}

const LONG: &str = "6000 30";
const SHORT: &str = "1500 30";

#[test]
fn every_run_measures_everything_unless_it_is_asked_not_to() -> Result<()> {
    let place = Workplace::new(Jdk::newest()?)?;
    for work in [LONG, SHORT] {
        let (said, profile) = place.run(&[], work)?;
        assert!(
            measured(&profile).is_superset(&["steady", "other", "rare"].into()),
            "{said}"
        );
        assert!(total(&profile, "steady") > 100_000, "{said}");
        assert_eq!(remembered(&profile), BTreeSet::new());
    }
    // A page was what earlier runs were used for without being asked to.
    let mut command = place.command(&["-o", "page.html"], SHORT, &[])?;
    let said = process::run(&mut command, LIMIT)?.success()?.stderr;
    assert!(
        said.contains("Learnt.steady") && !said.contains("arlier run"),
        "{said}"
    );
    Ok(())
}

#[test]
fn with_again_what_is_settled_is_not_measured_but_other_input_and_changed_code_are() -> Result<()> {
    for jdk in Jdk::ends()? {
        let place = Workplace::new(jdk)?;
        let (said, first) = place.run(&["--again"], LONG)?;
        assert!(said.contains("--again: no earlier run"), "{said}");
        assert!(measured(&first).is_superset(&["steady", "other", "rare", "never"].into()));
        assert_eq!(place.memories().len(), 1);

        // What is settled is left alone; what never ran is not, so that it is seen when it does.
        let (said, second) = place.run(&["--again"], "1500 30 once")?;
        assert!(
            remembered(&second).is_superset(&["steady", "other", "rare"].into()),
            "{said}"
        );
        assert!(
            measured(&second).is_disjoint(&["steady", "other", "rare"].into()),
            "{said}"
        );
        assert_eq!(total(&second, "never"), 1, "{said}");
        // The answer is there, with the run that it is from.
        assert!(
            said.contains("Learnt.steady") && said.contains("run 1, "),
            "{said}"
        );
        // It is no part of the sums of this run.
        assert!(second.run.exact && second.methods_that_ran().len() < 4, "{said}");
        place.is_as_the_schema_says("result.trodden")?;

        // Other arguments: nothing of it is known.
        let (said, other) = place.run_with(&["--again"], SHORT, &["argument"])?;
        assert!(said.contains("--again: no earlier run"), "{said}");
        assert!(
            measured(&other).contains("steady") && remembered(&other).is_empty(),
            "{said}"
        );

        // Another build: line numbers and one method differ.
        place.build(|text| format!("\n\n{}", text.replace("i * 3", "i * 5")))?;
        let (said, third) = place.run(&["--again"], SHORT)?;
        assert!(measured(&third).contains("steady"), "{said}");
        assert!(
            remembered(&third).is_superset(&["other", "rare"].into()),
            "{said}"
        );
        assert!(total(&third, "steady") > 100_000, "{said}");
    }
    Ok(())
}

#[test]
fn what_moves_between_runs_is_measured_again() -> Result<()> {
    let place = Workplace::new(Jdk::newest()?)?;
    place.run(&[], LONG)?;
    place.run(&[], "6000 70")?;
    let (said, third) = place.run(&["--again"], "1500 70")?;
    assert!(
        measured(&third).contains("other") && remembered(&third).contains("steady"),
        "{said}"
    );
    Ok(())
}

#[test]
fn who_takes_a_partial_profile_for_a_whole_one_is_warned() -> Result<()> {
    let place = Workplace::new(Jdk::newest()?)?;
    place.run(&[], LONG)?;
    let (said, partial) = place.run(&["--again"], SHORT)?;
    assert!(remembered(&partial).contains("steady"), "{said}");
    let mut coverage = Command::new(&artefacts::artefacts()?.cli);
    coverage.current_dir(place.folder.path());
    coverage.args(["report", "result.trodden", "--format", "coverage-json"]);
    coverage.args(["--classes", "classes"]);
    let outcome = process::run(&mut coverage, LIMIT)?.success()?;
    assert!(
        outcome.stderr.contains("were not measured in that run"),
        "{}",
        outcome.stderr
    );
    // None of it counts as never run.
    assert!(
        outcome.stdout.contains("its paths are settled by earlier runs"),
        "{}",
        outcome.stdout
    );
    Ok(())
}

#[test]
fn a_damaged_or_unwritable_memory_is_reported_and_the_program_runs() -> Result<()> {
    let place = Workplace::new(Jdk::newest()?)?;
    place.run(&[], LONG)?;
    let [memory] = place.memories().try_into().map_err(|all| format!("{all:?}"))?;
    let whole = std::fs::read(&memory)?;
    std::fs::write(&memory, &whole[..whole.len() / 2])?;
    let (said, profile) = place.run(&["--again"], SHORT)?;
    assert!(
        said.contains("--again: ") && said.contains("everything is measured"),
        "{said}"
    );
    assert!(measured(&profile).contains("steady"), "{said}");
    // A folder that is none: nothing can be kept. Only a run that asked for it says so.
    let cache = place.path("cache");
    std::fs::remove_dir_all(&cache)?;
    std::fs::write(&cache, "")?;
    let (said, profile) = place.run(&["--again"], SHORT)?;
    assert!(said.contains("this run is not remembered"), "{said}");
    assert!(measured(&profile).contains("steady"), "{said}");
    let (said, _) = place.run(&[], SHORT)?;
    assert!(!said.contains("remembered"), "{said}");
    Ok(())
}

#[test]
fn runs_at_once_are_all_remembered_and_a_folder_of_the_project_comes_first() -> Result<()> {
    let place = Workplace::new(Jdk::newest()?)?;
    std::fs::create_dir(place.path(".trodden"))?;
    let start = |_| -> Result<_> {
        let mut command = place.command(&["-o", "%p.trodden"], "2000 30", &[])?;
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        Ok(command.spawn()?)
    };
    let children = (0..3).map(start).collect::<Result<Vec<_>>>()?;
    for child in children {
        process::wait(child, LIMIT)?.success()?;
    }
    assert_eq!(place.memories(), [] as [PathBuf; 0]);
    let ending = OsString::from("memory");
    let kept = std::fs::read_dir(place.path(".trodden"))?
        .flatten()
        .map(|entry| entry.path());
    let kept: Vec<PathBuf> = kept.filter(|path| path.extension() == Some(&ending)).collect();
    let [kept] = kept.as_slice() else {
        return Err(format!("{kept:?}").into());
    };
    let memory = Profile::load(kept)?.memory.ok_or("no memory")?;
    // Of runs whose methods were all measured again nothing is left but the last one's numbers.
    assert_eq!(memory.runs.last().map(|run| run.number), Some(3));
    Ok(())
}
