//! The changes that the store has to be built for (`.ci/changed`), in a small repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

struct Repository(TempDir);

impl Repository {
    /// One commit with a store that is built of the crate in `report`, and nothing else.
    fn new() -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/changed");
        repository.write("rules", &fs::read_to_string(rules).unwrap());
        repository.write(
            "store/Cargo.lock",
            "name = \"trodden-report\"\nname = \"serde\"\n",
        );
        repository.write("store/Cargo.toml", "name = \"trodden-store\"\n");
        repository.write("report/Cargo.toml", "name = \"trodden-report\"\n");
        repository.write("cli/Cargo.toml", "name = \"trodden\"\n");
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        repository.commit();
        repository
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Test", "-c", "user.email=test@example.com"]);
        let output = git.args(arguments).current_dir(&self.0).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    fn commit(&self) {
        self.commit_at("2026-11-20T12:00:00Z");
    }

    /// Commits what there is, as if at that time.
    fn commit_at(&self, time: &str) {
        self.git(&["add", "--all"]);
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Test", "-c", "user.email=test@example.com"]);
        git.args(["commit", "--quiet", "--message", "A change"]);
        git.env("GIT_COMMITTER_DATE", time);
        let output = git.current_dir(&self.0).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// The name of a commit.
    fn name(&self, commit: &str) -> String {
        let mut git = Command::new("git");
        let output = git.args(["rev-parse", commit]).current_dir(&self.0).output();
        String::from_utf8(output.unwrap().stdout)
            .unwrap()
            .trim()
            .to_owned()
    }

    /// Returns whether the store is tested, and the reason.
    fn asked(&self, variables: &[(&str, &str)]) -> (bool, String) {
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail", "-c", ". ./rules; store_is_touched"]);
        for name in [
            "TRODDEN_BASE",
            "GITHUB_BASE_REF",
            "GITHUB_EVENT_NAME",
            "GITHUB_EVENT_PATH",
            "TRODDEN_STORE_TESTS",
        ] {
            bash.env_remove(name);
        }
        bash.envs(variables.iter().copied()).current_dir(&self.0);
        let Output { status, stderr, .. } = bash.output().unwrap();
        (status.success(), String::from_utf8(stderr).unwrap())
    }

    #[track_caller]
    fn tests_the_store(&self, variables: &[(&str, &str)], because: Option<&str>) {
        let (tested, why) = self.asked(variables);
        assert_eq!(tested, because.is_some(), "{why}");
        let because = because.unwrap_or("nothing that it is built of differs");
        assert!(why.contains(because), "{why}");
    }
}

#[test]
fn the_store_is_tested_if_what_it_is_built_of_has_changed() {
    let repository = Repository::new();
    // There is no commit before the first one.
    repository.tests_the_store(&[], Some("what changed is not known"));

    let before = [("TRODDEN_BASE", "HEAD~1")];
    for (file, part) in [
        ("docs/page.md", None),
        ("cli/src/main.rs", None),
        ("report/tests/text.rs", None),
        ("report/src/text.rs", Some("report/src/ differs")),
        ("store/tests/add.rs", Some("store/ differs")),
        ("Cargo.toml", Some("Cargo.toml differs")),
    ] {
        repository.write(file, "new");
        repository.commit();
        repository.tests_the_store(&before, part);
    }
    // Not committed yet.
    repository.write("docs/page.md", "newer");
    repository.commit();
    repository.tests_the_store(&before, None);
    repository.write("report/src/text.rs", "newer");
    repository.tests_the_store(&before, Some("report/src/ differs"));
}

#[test]
fn a_branch_is_compared_with_where_it_left_main() {
    let repository = Repository::new();
    repository.git(&["checkout", "--quiet", "-b", "change"]);
    repository.write("report/src/text.rs", "new");
    repository.commit();
    repository.write("docs/page.md", "new");
    repository.commit();
    repository.tests_the_store(&[], Some("report/src/ differs"));
    repository.tests_the_store(&[("TRODDEN_BASE", "HEAD~1")], None);
    repository.tests_the_store(
        &[("TRODDEN_BASE", "no-such-commit")],
        Some("what changed is not known"),
    );
    for (decided, tested) in [("yes", true), ("no", false)] {
        let variable = [("TRODDEN_STORE_TESTS", decided)];
        assert_eq!(repository.asked(&variable), (tested, String::new()));
    }
}

#[test]
fn a_push_is_compared_with_what_it_replaced() {
    let repository = Repository::new();
    let first = repository.name("HEAD");
    repository.write("report/src/text.rs", "new");
    repository.commit();
    let second = repository.name("HEAD");
    for page in ["one", "two", "three"] {
        repository.write("docs/page.md", page);
        repository.commit();
    }
    let event = repository.path("event.json");
    let path = event.to_str().unwrap();
    let push = [("GITHUB_EVENT_NAME", "push"), ("GITHUB_EVENT_PATH", path)];
    let text = |before: &str| format!("{{\n  \"after\": \"1\",\n  \"before\": \"{before}\",\n}}\n");
    fs::write(&event, text(&first)).unwrap();
    repository.tests_the_store(&push, Some("report/src/ differs"));
    fs::write(&event, text(&second)).unwrap();
    repository.tests_the_store(&push, None);
    // One that is not there; and the event of something else.
    fs::write(&event, text(&"12".repeat(20))).unwrap();
    repository.tests_the_store(&push, Some("what changed is not known"));
    fs::write(&event, text(&second)).unwrap();
    let other = [("GITHUB_EVENT_NAME", "schedule"), ("GITHUB_EVENT_PATH", path)];
    repository.tests_the_store(&other, Some("what changed is not known"));
}

#[test]
fn a_clone_of_main_is_compared_with_what_passed_all_tests_or_was_there_a_day_before() {
    let repository = Repository::new();
    repository.write("report/src/text.rs", "new");
    repository.commit_at("2026-11-21T18:00:00Z");
    for (page, hour) in [("one", "10"), ("two", "17")] {
        repository.write("docs/page.md", page);
        repository.commit_at(&format!("2026-11-22T{hour}:00:00Z"));
    }
    // Its last commit is not all that a push had.
    repository.tests_the_store(&[], Some("report/src/ differs"));
    repository.git(&["tag", "tested", "HEAD~2"]);
    repository.tests_the_store(&[], None);
    repository.git(&["tag", "--force", "tested", "HEAD~3"]);
    repository.tests_the_store(&[], Some("report/src/ differs"));
    repository.git(&["tag", "--delete", "tested"]);
    repository.write("docs/page.md", "three");
    repository.commit_at("2026-11-22T19:00:00Z");
    repository.tests_the_store(&[], None);
    // A tag that is not in this history says nothing about it.
    repository.git(&["tag", "tested"]);
    repository.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    repository.tests_the_store(&[], Some("report/src/ differs"));
}
