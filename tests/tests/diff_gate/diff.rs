//! `trodden diff` on a planted change: a cache that misses because of one more condition.

use std::path::{Path, PathBuf};
use std::process::Command;

use trodden_tests::artefacts::artefacts;
use trodden_tests::chance::with_more;
use trodden_tests::changes::{CHANGED, Recorder, SAME};
use trodden_tests::jdk::Jdk;
use trodden_tests::{build, pages};

const LOOKUP: &str = "if (hit != null) {\n            return hit;";

struct Project {
    folder: tempfile::TempDir,
    jdk: Jdk,
}

impl Project {
    fn new(jdk: Jdk) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Project { folder, jdk }
    }

    /// Compiles the program with changes in its text; the classes and their sources.
    fn compile(&self, name: &str, changes: &[(&str, &str, &str)]) -> (PathBuf, PathBuf) {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("diff/shop");
        let sources = self.folder.path().join(name);
        let package = sources.join("shop");
        std::fs::create_dir_all(&package).unwrap();
        let mut files = Vec::new();
        for file in ["Server.java", "Cache.java", "Store.java"] {
            let mut text = std::fs::read_to_string(here.join(file)).unwrap();
            for (_, old, new) in changes.iter().filter(|change| change.0 == file) {
                assert!(text.contains(old), "{file} has no {old}");
                text = text.replace(old, new);
            }
            std::fs::write(package.join(file), text).unwrap();
            files.push(package.join(file));
        }
        let classes = self.folder.path().join(format!("{name}-classes"));
        let compiled = self
            .jdk
            .command("javac")
            .args(["-g", "-d"])
            .arg(&classes)
            .args(&files)
            .status();
        assert!(compiled.unwrap().success());
        (classes, sources)
    }

    /// The same, recorded; the profile and its sources.
    fn record(&self, name: &str, changes: &[(&str, &str, &str)], arguments: &[&str]) -> (PathBuf, PathBuf) {
        let (classes, sources) = self.compile(name, changes);
        let profile = self.folder.path().join(format!("{name}.trodden"));
        let run = Command::new(&artefacts().unwrap().cli)
            .args([
                "run",
                "--quiet",
                "--probe",
                "counters",
                "--sample",
                "off",
                "--include",
                "shop.*",
                "-o",
            ])
            .arg(&profile)
            .arg("--")
            .arg(self.jdk.command("java").get_program())
            .args(["-Xverify:all", "-Xcheck:jni", "-cp"])
            .arg(&classes)
            .arg("shop.Server")
            .args(arguments)
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        (profile, sources)
    }
}

fn diff(before: &Path, after: &Path, more: &[&str]) -> (String, Option<i32>) {
    let run = Command::new(&artefacts().unwrap().cli)
        .arg("diff")
        .args([before, after])
        .args(more)
        .output()
        .unwrap();
    (String::from_utf8(run.stdout).unwrap(), run.status.code())
}

fn json(before: &Path, after: &Path) -> serde_json::Value {
    let (text, code) = diff(before, after, &["--format", "json"]);
    assert_eq!(code, Some(0));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn the_condition_that_makes_a_cache_miss_leads() {
    for jdk in Jdk::ends().unwrap() {
        let project = Project::new(jdk);
        let (before, _) = project.record("before", &[], &[]);
        let missing = LOOKUP.replace("hit != null", "hit != null && hit.region.equals(region)");
        let (after, sources) = project.record("after", &[("Cache.java", LOOKUP, &missing)], &[]);
        let (text, code) = diff(&before, &after, &["--sources", sources.to_str().unwrap()]);
        assert_eq!(code, Some(0));
        let first = text.lines().take(5).collect::<Vec<_>>().join("\n");
        assert!(first.contains("shop.Cache.lookup(String, String)"), "{text}");
        assert!(first.contains("line 22"), "{text}");
        assert!(first.contains("hit.region.equals(region)"), "{text}");

        let found = json(&before, &after);
        let leads = &found["methods"][0];
        assert_eq!(leads["name"], "lookup");
        assert_eq!(leads["matched"], "partial");
        assert_eq!(leads["cause"]["line"], 22);
        assert_eq!(leads["cause"]["new"], true);
        let names: Vec<&str> = found["methods"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["lookup", "answer", "matches", "load"]);
        assert_eq!(found["methods"][3]["entries"], serde_json::json!([40, 2040]));
        assert_eq!(found["methods"][3]["because_of"], 1);
        assert_eq!(found["summary"]["methods"]["new"], 0);

        // The other way round, the condition is gone.
        let found = json(&after, &before);
        assert_eq!(found["methods"][0]["name"], "lookup");
        assert_eq!(found["methods"][0]["cause"]["gone"], true);

        let (_, code) = diff(&before, &after, &["--fail-on", "50"]);
        assert_eq!(code, Some(3));
        let (_, code) = diff(&before, &after, &["--fail-on", "99"]);
        assert_eq!(code, Some(0));
        let (text, _) = diff(&before, &after, &["--format", "markdown"]);
        assert!(text.starts_with("**1 method behaves differently."), "{text}");
    }
}

#[test]
fn a_change_elsewhere_in_the_class_is_none() {
    for jdk in Jdk::ends().unwrap() {
        let project = Project::new(jdk);
        let (before, _) = project.record("before", &[], &[]);
        let other = [(
            "Cache.java",
            "int size() {\n",
            "int size() {\n        String why = \"lines move\";\n",
        )];
        let (after, _) = project.record("after", &other, &[]);
        let found = json(&before, &after);
        assert_eq!(found["methods"].as_array().unwrap().len(), 0, "{found:#}");
        let matched = &found["summary"]["methods"];
        assert_eq!((&matched["new"], &matched["gone"]), (&0.into(), &0.into()));
        assert_eq!(matched["partial"], 1, "{matched}");
    }
}

#[test]
fn a_renamed_method_and_a_second_run_are_none() {
    for jdk in Jdk::ends().unwrap() {
        let project = Project::new(jdk);
        let (before, _) = project.record("before", &[], &[]);
        let (again, _) = project.record("again", &[], &[]);
        let found = json(&before, &again);
        assert_eq!(found["methods"].as_array().unwrap().len(), 0, "{found:#}");
        assert_eq!(found["summary"]["work"][0], found["summary"]["work"][1]);

        let renamed = [
            ("Store.java", "matches(", "fits("),
            ("Cache.java", "size()", "count()"),
        ];
        let (after, _) = project.record("after", &renamed, &[]);
        let found = json(&before, &after);
        assert_eq!(found["methods"].as_array().unwrap().len(), 0, "{found:#}");
        assert_eq!(found["summary"]["methods"]["new"], 0);
        // `Store.load` now names another method; its graph is the same.
        assert_eq!(found["summary"]["methods"]["graph"], 1);
    }
}

#[test]
fn profiles_without_paths_are_refused() {
    let project = Project::new(Jdk::oldest().unwrap());
    let (paths, _) = project.record("before", &[], &["10"]);
    let empty = project.folder.path().join("empty.trodden");
    trodden_profile::Profile::default().save(&empty).unwrap();
    let run = Command::new(&artefacts().unwrap().cli)
        .arg("diff")
        .args([&paths, &empty])
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1));
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(said.contains("the second profile has no path counts"), "{said}");
}

/// `trodden` with these arguments, in a folder: its output, what it complained of, and its exit code.
fn trodden(folder: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    let run = Command::new(&artefacts().unwrap().cli)
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap();
    let [stdout, stderr] = [run.stdout, run.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (stdout, stderr, run.status.code())
}

#[test]
fn two_commands_run_in_turn_and_their_runs_are_compared() {
    let jdk = Jdk::newest().unwrap();
    let project = Project::new(jdk);
    let missing = LOOKUP.replace("hit != null", "hit != null && hit.region.equals(region)");
    let (one, _) = project.compile("one", &[]);
    let (other, _) = project.compile("other", &[("Cache.java", LOOKUP, &missing)]);
    let java = project
        .jdk
        .command("java")
        .get_program()
        .to_str()
        .unwrap()
        .to_owned();
    let folder = project.folder.path();
    let command =
        |classes: &Path| [&java, "-cp", classes.to_str().unwrap(), "shop.Server", "500"].map(str::to_owned);
    let mut arguments = ["run", "--repeat", "2", "-o", "runs/%c/%n.trodden", "--"]
        .map(str::to_owned)
        .to_vec();
    arguments.extend(command(&one));
    arguments.push("--versus".to_owned());
    arguments.extend(command(&other));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (_, said, code) = trodden(folder, &arguments);
    assert_eq!(code, Some(0), "{said}");
    // In turn, the second time the other way round.
    let runs: Vec<&str> = said
        .lines()
        .filter_map(|line| line.split_once("run ")?.1.split_once(": "))
        .map(|of| of.1)
        .collect();
    assert_eq!(
        runs,
        [
            "runs/before/1.trodden",
            "runs/after/1.trodden",
            "runs/after/2.trodden",
            "runs/before/2.trodden"
        ]
    );
    assert!(
        said.contains("compare: trodden diff runs/before/*.trodden -- runs/after/*.trodden"),
        "{said}"
    );

    let of_folders = trodden(folder, &["diff", "runs/before", "runs/after", "--format", "json"]);
    let of_files = trodden(
        folder,
        &[
            "diff",
            "--format",
            "json",
            "runs/before/1.trodden",
            "runs/before/2.trodden",
            "--",
            "runs/after/1.trodden",
            "runs/after/2.trodden",
        ],
    );
    assert_eq!(of_folders, of_files);
    let found: serde_json::Value = serde_json::from_str(&of_folders.0).unwrap();
    assert_eq!(found["summary"]["runs"], serde_json::json!([2, 2]));
    assert_eq!(found["methods"][0]["name"], "lookup");
    // Those of one run.
    assert_eq!(found["methods"][0]["entries"], serde_json::json!([500, 500]));

    let (_, said, code) = trodden(
        folder,
        &[
            "diff",
            "runs/before/1.trodden",
            "runs/after/1.trodden",
            "runs/after/2.trodden",
        ],
    );
    assert_eq!(code, Some(2));
    assert!(
        said.contains("no '--' between those before and those after"),
        "{said}"
    );
    let (_, said, code) = trodden(folder, &["diff", "one", "runs/after"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("no profile (.trodden) in this folder"), "{said}");

    // What fails is not repeated.
    let (_, said, code) = trodden(
        folder,
        &["run", "--repeat", "3", "--", &java, "-cp", ".", "Missing"],
    );
    assert_eq!((code, said.matches(" of 3: ").count()), (Some(1), 1), "{said}");
    let (_, said, code) = trodden(
        folder,
        &[
            "run",
            "--repeat",
            "3",
            "-o",
            "same.trodden",
            "--",
            "true",
            "--versus",
            "true",
        ],
    );
    assert_eq!(code, Some(2));
    assert!(said.contains("two commands need %c in -o"), "{said}");
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: many pairs of runs")]
fn pairs_without_a_change_are_quiet_and_changes_are_named() {
    let jdk = Jdk::oldest().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let recorder = &std::cell::RefCell::new(Recorder::new(&jdk, folder.path(), false));
    // A loop that ends by the clock, and twice the work of a program that is one loop. The whole set is a
    // program: cargo run --release -p trodden-tests --bin changes.
    for place in [9, 14] {
        let (program, difference) = SAME[place];
        with_more(&[1, 2, 3], |attempt| {
            let pair = recorder
                .borrow_mut()
                .pair(program, &format!("same-{place}-{attempt}"), difference)?;
            let (found, text) = Recorder::findings(&pair)?;
            assert!(found.is_empty(), "{text}");
            let said = text.replace('\n', " ");
            assert!(said.contains("times as much of the same"), "{text}");
            Ok(())
        })
        .unwrap();
    }
    for place in [1, 2] {
        let planted = CHANGED[place];
        with_more(&[1, 2, 3], |attempt| {
            let pair = recorder
                .borrow_mut()
                .planted(planted, &format!("changed-{place}-{attempt}"))?;
            let (found, text) = Recorder::findings(&pair)?;
            assert!(planted.is_named(&found), "{}: {text}", planted.what);
            Ok(())
        })
        .unwrap();
    }
    // Two of these programs have nothing in common.
    let of = |name: &str| {
        folder
            .path()
            .join(format!("{name}-before-{}.1.trodden", jdk.feature))
    };
    let [one, other] = ["same-9-1", "changed-1-1"].map(|name| of(name).display().to_string());
    let (text, said, code) = trodden(folder.path(), &["diff", &one, &other]);
    assert_eq!((&*text, code), ("", Some(2)), "{said}");
    assert!(said.contains("next to nothing in common"), "{said}");
    let (_, said, code) = trodden(folder.path(), &["diff", &one, &other, "--force"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn the_page_shows_what_its_commands_show() {
    let jdk = Jdk::newest().unwrap();
    let project = Project::new(jdk);
    let folder = project.folder.path();
    let missing = LOOKUP.replace("hit != null", "hit != null && hit.region.equals(region)");
    let changed = [("Cache.java", LOOKUP, &*missing)];
    for (version, changes) in [("1.0", &[][..]), ("1.1", &changed)] {
        let (classes, sources) = project.compile(version, changes);
        let jar = folder.join(format!("app-{version}.jar"));
        let made = (project
            .jdk
            .command("jar")
            .args(["--create", "--main-class", "shop.Server", "--file"]))
        .arg(&jar)
        .arg("-C")
        .arg(&classes)
        .arg(".")
        .status();
        assert!(made.unwrap().success());
        std::fs::create_dir_all(folder.join("src/main")).unwrap();
        let _ = std::fs::remove_dir_all(folder.join("src/main/java"));
        std::fs::rename(sources, folder.join("src/main/java")).unwrap();
    }
    let (blocks, outcome) = pages::run("diff.md", &project.jdk, folder).unwrap();
    assert_eq!(blocks, 2);
    let page = std::fs::read_to_string(Path::new(build::ROOT).join("../docs/diff.md")).unwrap();
    let shown = page.split("\n```\n").nth(2).unwrap();
    // Times are those of another machine.
    let is_of_time = |line: &str| {
        ["CPU time", "No method's time", "The time of"]
            .iter()
            .any(|with| line.contains(with))
    };
    let lines: Vec<&str> = shown.lines().filter(|line| !is_of_time(line)).collect();
    assert!(lines.len() > 5, "{shown}");
    for line in lines {
        assert!(
            outcome.stdout.contains(line),
            "the page shows: {line}\n{}",
            outcome.stdout
        );
    }
    assert!(
        outcome.stdout.contains("All numbers are means of 5 and 5 runs."),
        "{}",
        outcome.stdout
    );
}
