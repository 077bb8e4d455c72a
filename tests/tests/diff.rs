//! `trodden diff` on a planted change: a cache that misses because of one more condition.

use std::path::{Path, PathBuf};
use std::process::Command;

use trodden_tests::artefacts::artefacts;
use trodden_tests::jdk::Jdk;

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

    /// Compiles the program with changes in its text and records it; the profile and its sources.
    fn record(&self, name: &str, changes: &[(&str, &str, &str)], arguments: &[&str]) -> (PathBuf, PathBuf) {
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
    let project = Project::new(Jdk::ends().unwrap().remove(0));
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
