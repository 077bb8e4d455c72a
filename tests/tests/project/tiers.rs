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
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "A change"]);
    }

    /// Returns true if that rule says that the store is tested, and the reason.
    fn asked(&self, rule: &str, variables: &[(&str, &str)]) -> (bool, String) {
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail", "-c", &format!(". ./rules; {rule}")]);
        for name in ["TRODDEN_BASE", "GITHUB_BASE_REF", "TRODDEN_STORE_TESTS"] {
            bash.env_remove(name);
        }
        bash.envs(variables.iter().copied()).current_dir(&self.0);
        let Output { status, stderr, .. } = bash.output().unwrap();
        (status.success(), String::from_utf8(stderr).unwrap())
    }

    #[track_caller]
    fn tests_the_store(&self, variables: &[(&str, &str)], because: Option<&str>) {
        let (tested, why) = self.asked("store_is_touched", variables);
        assert_eq!(tested, because.is_some(), "{why}");
        let because = because.unwrap_or("left out: nothing of store/ gradle-example/fleet/ ");
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
fn a_run_of_the_change_tier_builds_the_store_if_its_own_folder_has_changed() {
    let repository = Repository::new();
    for (file, differs) in [
        ("report/src/text.rs", false),
        ("store/src/add.rs", true),
        ("docs/page.md", false),
    ] {
        repository.write(file, "new");
        repository.commit();
        // A clone of main itself is compared with the commit before.
        let (tested, why) = repository.asked("store_differs", &[]);
        assert_eq!(tested, differs, "{file}: {why}");
    }
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
        for rule in ["store_is_touched", "store_differs"] {
            assert_eq!(repository.asked(rule, &variable), (tested, String::new()));
        }
    }
}
