//! Coverage of a change: a repository of git, and by hand which outcomes on its changed lines no test takes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts, readers};

const LIMIT: Duration = Duration::from_secs(300);

/// A folder with a name that git quotes.
const MODULE: &str = "m\u{f6}dule/src";

const CART_BEFORE: &str = "package shop;

public class Cart {
    static int price(int age, boolean weekend, String code) {
        int price = 100;
        if (age < 12) {
            price = 50;
        }
        return price;
    }

    static int unchanged(int n) {
        return n > 5 ? 1 : 2;
    }
}
";

/// Lines that end with `// NAME` are named in the oracle.
const CART: &str = "package shop;

public class Cart {
    static int price(int age, boolean weekend, String code) {
        int price = 100;
        if (age < 12 || age > 64) { // senior
            price = 50;
        }
        if (weekend) {
            price += 10;
        }
        switch (code) { // code
            case \"half\": price /= 2; break;
            case \"free\": price = 0; break;
            default: break;
        }
        assert price >= 0; // assert
        synchronized (Cart.class) {
            for (int i = 0; i < age; i++) {
                price += i % 2;
            }
        }
        return price;
    }

    static int unchanged(int n) {
        return n > 5 ? 1 : 2;
    }

    static int deep(int n) {
        if (n > 100) { // large
            return n > 200 ? 1 : 2; // larger
        }
        return 0;
    }

    static int refund(int paid) { // a comment is no code
        return paid > 50 ? paid - 5 : paid; // refund
    }
}
";

/// With the line ends of other systems, and none at the end of the file.
const ITEM: &str = "package shop;\r\n\r\npublic record Item(String name, int cents) {\r\n    public Item {\r\n\
    \x20       if (cents < 0) { // negative\r\n            throw new IllegalArgumentException(name);\r\n        }\r\n    }\r\n\
    \x20   java.util.function.IntSupplier later() {\r\n        return () -> cents > 3 ? 1 : 2; // lambda\r\n    }\r\n}";

const TOOLS_BEFORE: &str = "package shop;

class Tools {
    final int size = Integer.getInteger(\"size\", 4);

    Tools() {
        this(1);
    }

    Tools(int some) {
    }

    boolean is(int n) {
        return n == size;
    }
}
";

const MAIN: &str = "package shop;

public class Main {
    public static void main(String[] args) {
        System.out.println(Cart.price(3, false, \"free\") + Cart.price(30, true, \"none\")
            + Cart.price(30, false, \"none\") + Cart.unchanged(1) + Cart.deep(1));
        System.out.println(new Item(\"a\", 5).later().getAsInt() + (new Tools().is(5) ? 1 : 2));
    }
}
";

const UNLOADED: &str = "package shop;

class Unloaded {
    private Unloaded() {
    }

    static int f(int n) {
        return n + 1; // unloaded
    }
}
";

/// A repository with two commits; classes and a profile of the second one.
struct Project {
    folder: tempfile::TempDir,
    jdk: Jdk,
}

impl Project {
    fn new(jdk: &Jdk) -> Result<Project> {
        let project = Project {
            folder: tempfile::tempdir()?,
            jdk: jdk.clone(),
        };
        let gone = "package shop;\n\nclass Gone {\n    int n = 1;\n}\n";
        for (name, text) in [
            ("Cart", CART_BEFORE),
            ("Tools", TOOLS_BEFORE),
            ("Main", MAIN),
            ("Gone", gone),
        ] {
            project.put(name, text)?;
        }
        project.git(&["init", "-q"])?;
        project.commit("first")?;
        project.put("Cart", CART)?;
        project.put("Item", ITEM)?;
        project.put("Unloaded", UNLOADED)?;
        fs::remove_file(project.source("Gone"))?;
        // Another name of the file, and one more condition.
        fs::remove_file(project.source("Tools"))?;
        let tools = TOOLS_BEFORE.replace("n == size", "n == size && n > 7 // tools\n            ");
        project.put("Help", &tools)?;
        project.commit("second")?;
        project.record()?;
        Ok(project)
    }

    fn source(&self, name: &str) -> PathBuf {
        self.folder.path().join(MODULE).join(format!("shop/{name}.java"))
    }

    fn put(&self, name: &str, text: &str) -> Result<()> {
        let file = self.source(name);
        fs::create_dir_all(file.parent().ok_or("no folder")?)?;
        Ok(fs::write(file, text)?)
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        let mut git = Command::new("git");
        git.current_dir(self.folder.path())
            .args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        Ok(process::run(git.args(arguments), LIMIT)?.success()?.stdout)
    }

    fn commit(&self, title: &str) -> Result<()> {
        self.git(&["add", "-A", MODULE])?;
        self.git(&["commit", "-qm", title]).map(drop)
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Compiles a copy, as not every JVM can name the folder, and runs it.
    fn record(&self) -> Result<()> {
        let copy = self.folder.path().join(".git/copy");
        let _ = fs::remove_dir_all(&copy);
        fs::create_dir_all(&copy)?;
        let mut javac = self.jdk.command("javac");
        javac.args(["-g", "-d", &self.path(".git/classes")]);
        for entry in fs::read_dir(self.folder.path().join(MODULE).join("shop"))? {
            let from = entry?.path();
            let to = copy.join(from.file_name().ok_or("no name")?);
            fs::copy(&from, &to)?;
            javac.arg(&to);
        }
        process::run(&mut javac, LIMIT)?.success()?;
        let java = self.jdk.command("java").get_program().to_owned();
        let mut run = self.trodden(&["run", "--quiet", "--profile", "coverage", "--coverage", "paths"])?;
        run.args(["--include", "shop.*", "-o", &self.path(".git/shop.trodden"), "--"]);
        run.arg(java)
            .args(["-ea", "-cp", &self.path(".git/classes"), "shop.Main"]);
        process::run(&mut run, LIMIT)?.success().map(drop)
    }

    fn trodden(&self, arguments: &[&str]) -> Result<Command> {
        let artefacts = artefacts::artefacts()?;
        let mut trodden = Command::new(&artefacts.cli);
        trodden.current_dir(self.folder.path()).args(arguments);
        trodden
            .env("TRODDEN_AGENT", &artefacts.agent)
            .env_remove("JAVA_TOOL_OPTIONS");
        Ok(trodden)
    }

    fn coverage(&self, arguments: &[&str]) -> Result<Outcome> {
        let mut trodden = self.trodden(&["coverage", ".git/shop.trodden"])?;
        process::run(trodden.args(arguments), LIMIT)
    }
}

/// The line that ends with this comment.
fn line(text: &str, mark: &str) -> Result<u64> {
    let end = format!("// {mark}");
    let at = text.lines().position(|line| line.trim_end().ends_with(&end));
    Ok(1 + at.ok_or_else(|| format!("no line {mark}"))? as u64)
}

/// By hand: file, line, and what never happened there.
fn oracle(classes: bool) -> Result<BTreeSet<(String, u64, String)>> {
    let help = TOOLS_BEFORE.replace("n == size", "n == size && n > 7 // tools\n            ");
    let mut all = vec![
        ("Cart", line(CART, "senior")?, "`age > 64` was never true"),
        (
            "Cart",
            line(CART, "code")?,
            "`switch (code)` never went to case \"half\"",
        ),
        // The test whether assertions are on is the compiler's.
        ("Cart", line(CART, "assert")?, "`price >= 0` was never false"),
        ("Cart", line(CART, "large")?, "`n > 100` was never true"),
        (
            "Cart",
            line(CART, "larger")?,
            "`n > 200` was never true, nor reached",
        ),
        (
            "Cart",
            line(CART, "larger")?,
            "`n > 200` was never false, nor reached",
        ),
        // A method that never ran: nothing is said of its outcomes.
        ("Cart", line(CART, "refund")?, "shop.Cart.refund(int) never ran"),
        ("Item", line(ITEM, "negative")?, "`cents < 0` was never true"),
        ("Item", line(ITEM, "lambda")?, "`cents > 3` was never false"),
        ("Help", line(&help, "tools")?, "`n == size` was never true"),
        (
            "Help",
            line(&help, "tools")?,
            "`n > 7` was never true, nor reached",
        ),
        (
            "Help",
            line(&help, "tools")?,
            "`n > 7` was never false, nor reached",
        ),
    ];
    if classes {
        let unloaded = line(UNLOADED, "unloaded")?;
        all.push(("Unloaded", unloaded, "shop.Unloaded.f(int) never ran"));
    }
    let named =
        |(file, line, what): (&str, u64, &str)| (format!("{MODULE}/shop/{file}.java"), line, what.to_owned());
    Ok(all.into_iter().map(named).collect())
}

/// The part of a message before it names the method.
fn said(message: &str) -> String {
    let ends = [", in shop.", "%0A", "."];
    let whole = message.find(" never ran").map(|at| at + " never ran".len());
    let end = whole.or_else(|| ends.iter().filter_map(|end| message.find(end)).min());
    message[..end.unwrap_or(message.len())].to_owned()
}

/// The commands for GitHub.
fn commands(text: &str) -> Result<Vec<(String, u64, String)>> {
    let command = |line: &str| {
        let rest = line.strip_prefix("::warning file=")?;
        let (file, rest) = rest.split_once(",line=")?;
        let (number, rest) = rest.split_once(",title=")?;
        let (_, message) = rest.split_once("::")?;
        Some((file.to_owned(), number.parse().ok()?, said(message)))
    };
    let all: Option<Vec<_>> = text.lines().map(command).collect();
    Ok(all.ok_or("a line is no command")?)
}

fn results(text: &str) -> Result<Vec<(String, u64, String)>> {
    let sarif: Value = serde_json::from_str(text)?;
    let results = sarif["runs"][0]["results"].as_array().ok_or("no results")?;
    let one = |result: &Value| {
        let place = &result["locations"][0]["physicalLocation"];
        let file = place["artifactLocation"]["uri"]
            .as_str()?
            .replace("%C3%B6", "\u{f6}");
        let message = said(result["message"]["text"].as_str()?);
        Some((file, place["region"]["startLine"].as_u64()?, message))
    };
    let all: Option<Vec<_>> = results.iter().map(one).collect();
    Ok(all.ok_or("a result has no place")?)
}

fn fingerprints(text: &str) -> Result<Vec<String>> {
    let sarif: Value = serde_json::from_str(text)?;
    let results = sarif["runs"][0]["results"].as_array().ok_or("no results")?;
    let one = |result: &Value| Some(result["partialFingerprints"]["trodden/v1"].as_str()?.to_owned());
    let all: Option<Vec<_>> = results.iter().map(one).collect();
    Ok(all.ok_or("a result has no fingerprint")?)
}

fn same(found: &[(String, u64, String)], expected: &BTreeSet<(String, u64, String)>) {
    let distinct: BTreeSet<_> = found.iter().cloned().collect();
    assert_eq!(&distinct, expected);
    assert_eq!(
        found.len(),
        expected.len(),
        "something is there twice: {found:#?}"
    );
}

#[test]
fn each_untaken_outcome_of_a_change_is_there_once() -> Result<()> {
    for jdk in Jdk::ends()? {
        let project = Project::new(&jdk)?;
        let since = ["--base", "HEAD~1"];
        let with = |arguments: &[&str]| -> Result<Outcome> {
            project.coverage(&[&since[..], arguments].concat())?.success()
        };
        let classes = ["--classes", ".git/classes"];

        let github = with(&["--format", "github"])?;
        same(&commands(&github.stdout)?, &oracle(false)?);
        let unloaded = format!("{MODULE}/shop/Unloaded.java: no class of it is known");
        assert!(github.stderr.contains(&unloaded), "{}", github.stderr);
        let github = with(&[&["--format", "github"][..], &classes].concat())?;
        same(&commands(&github.stdout)?, &oracle(true)?);

        let sarif = with(&["--format", "sarif"])?.stdout;
        same(&results(&sarif)?, &oracle(false)?);
        assert_eq!(with(&["--format", "sarif"])?.stdout, sarif, "twice the same");
        steps_lead_to_the_decision(&sarif)?;
        valid(&project, &sarif)?;

        let text = with(&[])?.stdout;
        let path = "6 age < 12 → no · 6 age > 64 → no";
        assert!(text.contains(path), "{text}");
        let markdown = with(&["--format", "markdown"])?.stdout;
        assert_eq!(
            markdown.matches("\n- line ").count(),
            oracle(false)?.len(),
            "{markdown}"
        );

        // A file and standard input; with context, and as other settings of git have it.
        for settings in [
            &["-c", "diff.noprefix=true", "diff"][..],
            &["-c", "diff.mnemonicPrefix=true", "diff", "-U9"],
            &["-c", "core.quotePath=false", "diff", "--no-renames"],
        ] {
            let diff = project.git(&[settings, &["HEAD~1"]].concat())?;
            fs::write(project.path(".git/change.diff"), diff)?;
            let found = project.coverage(&["--changed", ".git/change.diff", "--format", "sarif"])?;
            assert_eq!(found.success()?.stdout, sarif, "{settings:?}");
        }
        lines_above_change_no_fingerprint(&project, &sarif)?;
        wrong_usage(&project)?;
    }
    Ok(())
}

fn steps_lead_to_the_decision(sarif: &str) -> Result<()> {
    let sarif: Value = serde_json::from_str(sarif)?;
    let results = sarif["runs"][0]["results"].as_array().ok_or("no results")?;
    for result in results {
        let flow = &result["codeFlows"][0]["threadFlows"][0]["locations"];
        if result["ruleId"] == "method-never-ran" {
            assert!(flow.is_null());
            continue;
        }
        let flow = flow.as_array().ok_or("no steps")?;
        let place = &result["locations"][0]["physicalLocation"];
        let essential: Vec<&Value> = flow.iter().filter(|s| s["importance"] == "essential").collect();
        assert!(!essential.is_empty(), "{result:#}");
        let line = place["region"]["startLine"].as_u64().ok_or("no line")?;
        for step in essential {
            let region = &step["location"]["physicalLocation"]["region"];
            let first = region["startLine"].as_u64().ok_or("no line")?;
            let last = region["endLine"].as_u64().unwrap_or(first);
            assert!((first..=last).contains(&line), "{result:#}");
        }
    }
    Ok(())
}

/// By the schema of SARIF, which a package of npm has.
fn valid(project: &Project, sarif: &str) -> Result<()> {
    let Some(schema) = readers::from_npm("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json") else {
        return Ok(());
    };
    let mut files = Vec::new();
    let spoilt = sarif.replacen("\"text\"", "\"texts\"", 1);
    for (name, text) in [("good", sarif), ("spoilt", spoilt.as_str())] {
        let file = Path::new(&project.path(".git")).join(name);
        fs::write(&file, text)?;
        files.push(file);
    }
    let said = readers::validate(&schema, &files)?.ok_or("no validator")?;
    assert_eq!(said[0], "ok");
    assert_ne!(said[1], "ok");
    Ok(())
}

fn lines_above_change_no_fingerprint(project: &Project, sarif: &str) -> Result<()> {
    let base = project.git(&["rev-parse", "HEAD~1"])?;
    for (name, text) in [("Cart", CART), ("Item", ITEM)] {
        let more = text.replacen("\n\n", "\n\n\n/* more\n   lines */\n", 1);
        project.put(name, &more.replacen("\r\n\r\n", "\r\n// one more\r\n\r\n", 1))?;
    }
    project.record()?;
    let moved = project.coverage(&["--base", base.trim(), "--format", "sarif"])?;
    let moved = moved.success()?.stdout;
    assert_ne!(results(&moved)?, results(sarif)?);
    assert_eq!(fingerprints(&moved)?, fingerprints(sarif)?);
    let distinct: BTreeSet<String> = fingerprints(sarif)?.into_iter().collect();
    assert_eq!(distinct.len(), results(sarif)?.len());
    Ok(())
}

fn wrong_usage(project: &Project) -> Result<()> {
    let cases: [(&[&str], i32, &str); 8] = [
        (
            &["--base", "HEAD", "--format", "lcov"],
            2,
            "text, sarif, github or markdown",
        ),
        (
            &["--base", "HEAD", "-o", "x.xml"],
            2,
            "text, sarif, github or markdown",
        ),
        (&["--format", "sarif"], 2, "--changed DIFF or --base GITREF"),
        (&["--base", "HEAD", "--changed", "-"], 2, "cannot be used with"),
        (&["--base", "HEAD", "--mcdc"], 2, "cannot be used with"),
        (&["--base", "nowhere"], 1, "bad revision 'nowhere'"),
        (&["--base=--output=x"], 1, "git diff failed"),
        (
            &["--changed", ".git/shop.trodden"],
            1,
            ".git/shop.trodden: this is no diff",
        ),
    ];
    for (arguments, code, says) in cases {
        let outcome = project.coverage(arguments)?;
        assert_eq!(
            outcome.status.code(),
            Some(code),
            "{arguments:?}: {}",
            outcome.stderr
        );
        assert!(outcome.stderr.contains(says), "{arguments:?}: {}", outcome.stderr);
    }
    // No change, and a folder that is in no repository.
    let nothing = project.coverage(&["--base", "HEAD~1", "--include", "nothing"])?;
    assert!(nothing.success()?.stdout.contains("no line with code"));
    let mut elsewhere =
        project.trodden(&["coverage", &project.path(".git/shop.trodden"), "--base", "HEAD"])?;
    let elsewhere = process::run(elsewhere.current_dir(std::env::temp_dir()), LIMIT)?;
    assert_eq!(elsewhere.status.code(), Some(1));
    assert!(
        elsewhere.stderr.contains("not a git repository"),
        "{}",
        elsewhere.stderr
    );
    Ok(())
}
