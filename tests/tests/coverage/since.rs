//! Code that did not run in a time: many runs of several builds, of which some dumped while they ran.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, process};

const LIMIT: Duration = Duration::from_secs(200);

/// Two builds: the second has another `changed`, a new method, and a line more above all of them.
fn source(second: bool) -> String {
    let (top, changed, new) = if second {
        (
            "// second",
            "n > 3 ? n * 2 : n + 7",
            "static int fresh(int n) { return n; }",
        )
    } else {
        ("", "n + 1", "")
    };
    format!(
        "public class Shop {{ {top}
            static int same(int n) {{ if (n > 10) {{ return 1; }} return n < 0 ? 2 : 3; }}
            static int changed(int n) {{ return {changed}; }}
            static int never(int n) {{ return n; }}
            {new}
            public static void main(String[] a) throws Exception {{
                int n = Integer.parseInt(a[0]);
                System.out.println(same(n) + (n == 99 ? changed(n) : 0));
                if (n != 50) {{ return; }}
                // The second dump from here on begins after what has run; the first may have begun before.
                java.io.File file = new java.io.File(a[1]);
                for (int dump = 0; dump < 2; dump++) {{
                    long last = file.lastModified();
                    while (file.lastModified() == last) {{ Thread.sleep(10); }}
                }}
                Runtime.getRuntime().halt(0);
            }}
        }}"
    )
}

fn build(jdk: &Jdk, folder: &Path, second: bool) -> Result<PathBuf> {
    let classes = folder.join(if second { "second" } else { "first" });
    fs::create_dir_all(&classes)?;
    fs::write(classes.join("Shop.java"), source(second))?;
    let mut javac = jdk.command("javac");
    javac
        .args(["-g", "-d"])
        .arg(&classes)
        .arg(classes.join("Shop.java"));
    process::run(&mut javac, LIMIT)?.success()?;
    Ok(classes)
}

fn run(jdk: &Jdk, classes: &Path, argument: &str, file: &Path) -> Result<()> {
    let mut java = jdk.command("java");
    java.arg(format!(
        "-agentpath:{}=start,profile=coverage,quiet=true,dump=100ms,include=Shop,file={}",
        artefacts::artefacts()?.agent.display(),
        file.display()
    ));
    java.arg("-cp").arg(classes).args(["Shop", argument]).arg(file);
    process::run(&mut java, LIMIT)?.success().map(drop)
}

/// Per method: lines and branches that ran, of all.
fn coverage(folder: &Path, arguments: &[&str]) -> Result<Vec<(String, [u64; 4])>> {
    let mut trodden = Command::new(&artefacts::artefacts()?.cli);
    trodden.current_dir(folder).arg("coverage").args(arguments);
    let outcome = process::run(trodden.args(["--format", "json"]), LIMIT)?.success()?;
    let json: Value = serde_json::from_str(&outcome.stdout)?;
    let methods = json["methods"].as_array().ok_or("no methods")?;
    let numbers = |method: &Value| {
        let number = |what: &str, part: &str| method["totals"][what][part].as_u64().unwrap_or(u64::MAX);
        [
            number("lines", "covered"),
            number("lines", "total"),
            number("branches", "covered"),
            number("branches", "total"),
        ]
    };
    let name = |method: &Value| method["name"].as_str().unwrap_or_default().to_owned();
    Ok(methods.iter().map(|m| (name(m), numbers(m))).collect())
}

fn of(methods: &[(String, [u64; 4])], name: &str) -> Option<[u64; 4]> {
    methods
        .iter()
        .find(|(own, _)| own == name)
        .map(|(_, numbers)| *numbers)
}

#[test]
fn many_runs_of_two_builds_are_one() -> Result<()> {
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let (first, second) = (
            build(&jdk, folder.path(), false)?,
            build(&jdk, folder.path(), true)?,
        );
        let profiles = folder.path().join("profiles/deep");
        fs::create_dir_all(&profiles)?;
        let at = |name: &str| profiles.join(name);
        // Of the first build: a run, and one that was killed between two dumps.
        run(&jdk, &first, "-5", &at("a.trodden"))?;
        run(&jdk, &first, "50", &at("b.trodden"))?;
        // One of long ago, in which more ran.
        run(&jdk, &first, "99", &at("old.trodden"))?;
        let mut old = Profile::load(at("old.trodden"))?;
        old.run.started_ms -= 40 * 24 * 3600 * 1000;
        old.save(at("old.trodden"))?;
        fs::write(at("broken.trodden"), "no profile")?;

        // The first build alone: 50 and -5 went two of same()'s four ways each.
        let now = coverage(folder.path(), &["--since", "30d", "profiles"])?;
        assert_eq!(of(&now, "same").map(|n| [n[2], n[3]]), Some([3, 4]), "{now:?}");
        assert_eq!(of(&now, "changed").map(|n| n[0]), Some(0), "{now:?}");
        let longer = coverage(folder.path(), &["--since", "9w", "profiles"])?;
        assert_eq!(of(&longer, "changed").map(|n| n[0]), Some(1), "{longer:?}");

        // The second build, which has not run yet: what is the same ran, what is new did not.
        let files = ["--since", "9w", "profiles", "--classes", "second"];
        let unborn = coverage(folder.path(), &files)?;
        assert_eq!(
            of(&unborn, "same").map(|n| [n[2], n[3]]),
            Some([3, 4]),
            "{unborn:?}"
        );
        assert_eq!(of(&unborn, "fresh").map(|n| n[0]), Some(0), "{unborn:?}");
        assert_eq!(of(&unborn, "never").map(|n| n[0]), Some(0), "{unborn:?}");

        // It runs, another way: together everything that ran of same(), in each method once.
        run(&jdk, &second, "5", &at("c.trodden"))?;
        let all = coverage(folder.path(), &["--since", "30d", "profiles"])?;
        assert_eq!(of(&all, "same").map(|n| [n[2], n[3]]), Some([4, 4]), "{all:?}");
        assert_eq!(
            all.iter().filter(|(name, _)| name == "same").count(),
            1,
            "{all:?}"
        );
        assert!(of(&all, "fresh").is_some(), "{all:?}");

        let mut trodden = Command::new(&artefacts::artefacts()?.cli);
        trodden.current_dir(folder.path());
        let outcome = process::run(trodden.args(["coverage", "--since", "30d", "profiles"]), LIMIT)?;
        let outcome = outcome.success()?;
        let told = &outcome.stderr;
        assert!(
            told.contains("3 profiles are of this time; left out: 1 older"),
            "{told}"
        );
        assert!(told.contains("broken.trodden"), "{told}");
        let never = outcome
            .stdout
            .split("Never ran, by class")
            .nth(1)
            .ok_or("no list")?;
        assert!(
            never.contains("4 of 6  Shop: <init>, changed, never, fresh"),
            "{never}"
        );
    }
    Ok(())
}
