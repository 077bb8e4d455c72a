//! A profiled program in an editor: one made of the library of npm that editors use,
//! with numbers that follow from the source by hand.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, build, process, readers};

const LIMIT: Duration = Duration::from_secs(300);

/// The program.
const SHOP: &str = "package shop;

public class Shop {
    private static int price(int n, String code) {
        int price = 100;
        if (n % 10 == 0) {
            price -= 5;
        }
        if (n > 1000) {
            price = 0;
        }
        switch (code) {
            case \"half\": return price / 2;
            case \"free\": return 0;
            default: return price;
        }
    }

    static int idle(int n) {
        return n > 3 ? 1 : 2;
    }

    public static void main(String[] arguments) {
        int sum = 0;
        for (int n = 0; n < 200; n++) {
            sum += price(n, n % 4 == 0 ? \"half\" : \"full\");
        }
        System.out.println(sum);
    }
}
";

fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=Test", "-c", "user.email=test@example.com"]);
    process::run(git.args(arguments).current_dir(folder), LIMIT)?.success()?;
    Ok(())
}

/// The facts that the editor shows of a file.
fn shown(library: &Path, folder: &Path, file: &Path, arguments: &[&str]) -> Result<Value> {
    let mut node = Command::new("node");
    node.current_dir(library)
        .arg(Path::new(build::ROOT).join("editors/client.js"))
        .arg(&artefacts::artefacts()?.cli)
        .args([folder, file])
        .args(arguments);
    Ok(serde_json::from_str(
        &process::run(&mut node, LIMIT)?.success()?.stdout,
    )?)
}

/// The title of the lens at the first line with this text.
fn title<'s>(shown: &'s Value, source: &str, text: &str) -> &'s str {
    let line = source.lines().position(|line| line.contains(text)).expect(text) + 1;
    let lenses = shown["lenses"].as_array().expect("lenses");
    let at = lenses.iter().find(|lens| lens[0] == line);
    at.unwrap_or_else(|| panic!("no lens at {text}: {lenses:?}"))[1]
        .as_str()
        .expect("a title")
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: a client from npm")]
fn an_editor_shows_what_ran() -> Result<()> {
    let Some(package) = readers::from_npm("vscode-languageserver-protocol") else {
        return Ok(());
    };
    let library = package.ancestors().nth(2).ok_or("no folder")?;
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let root = folder.path().canonicalize()?;
        let file = root.join("src/main/java/shop/Shop.java");
        fs::create_dir_all(file.parent().ok_or("no folder")?)?;
        fs::write(&file, SHOP.replace("n > 1000", "n > 100"))?;
        git(&root, &["init", "--quiet"])?;
        git(&root, &["add", "--all"])?;
        git(&root, &["commit", "--quiet", "--message", "Before"])?;
        fs::write(&file, SHOP)?;
        let mut javac = jdk.command("javac");
        javac
            .args(["-g", "-d"])
            .arg(root.join("target/classes"))
            .arg(&file);
        process::run(&mut javac, LIMIT)?.success()?;
        let mut run = Command::new(&artefacts::artefacts()?.cli);
        run.args([
            "run",
            "--quiet",
            "--probe",
            "counters",
            "-o",
            "shop.trodden",
            "--",
        ])
        .arg(jdk.command("java").get_program())
        .args(["-cp", "target/classes", "shop.Shop"])
        .env("TRODDEN_AGENT", &artefacts::artefacts()?.agent)
        .current_dir(&root);
        process::run(&mut run, LIMIT)?.success()?;

        let seen = shown(library, &root, &file, &["--base", "HEAD"])?;
        assert_eq!(seen["code"], 0, "{seen}");
        for (text, parts) in [
            ("int price(", &["200 calls"][..]),
            (
                "n % 10 == 0)",
                &["n % 10 == 0: yes 20 (10.0 %)", "no 180 (90.0 %)"],
            ),
            ("n > 1000", &["n > 1000: no 200 (100.0 %)", "yes never"]),
            (
                "switch (code)",
                &[
                    "switch (code)",
                    "default 150",
                    "case \"half\" 50",
                    "case \"free\" never",
                ],
            ),
            ("int idle(", &["never ran"]),
            ("void main(", &["1 call "]),
            ("n < 200", &["again 200", "done 1"]),
        ] {
            let title = title(&seen, SHOP, text);
            for part in parts {
                assert!(title.contains(part), "{part}: {title}");
            }
        }
        check_hovers(&seen, &root)?;

        // The condition is new, and was never true; a line that nothing else changed.
        let diagnostics = seen["diagnostics"].as_array().ok_or("no diagnostics")?;
        assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
        let message = diagnostics[0]["message"].as_str().unwrap_or_default();
        assert!(
            message.starts_with("`n > 1000` was never true, in shop.Shop.price"),
            "{message}"
        );
        // For editors that show no steps.
        assert!(
            message.contains("nearest path that ran (")
                && message.contains("): ")
                && message.contains("n > 1000 → no"),
            "{message}"
        );
        assert_eq!(diagnostics[0]["range"]["start"]["line"], 8, "{diagnostics:?}");
        let steps = diagnostics[0]["relatedInformation"]
            .as_array()
            .ok_or("no steps")?;
        let steps: Vec<&str> = steps.iter().filter_map(|step| step["message"].as_str()).collect();
        assert!(steps.contains(&"n > 1000 → no"), "{steps:?}");
        let page = seen["page"].as_str().ok_or("no page")?;
        assert!(
            page.starts_with("file:///") && page.contains("#shop.Shop."),
            "{page}"
        );
        built_again(library, &jdk, &root, &file)?;
    }
    Ok(())
}

/// The hovers have the counts of the JSON report.
fn check_hovers(seen: &Value, root: &Path) -> Result<()> {
    let mut report = Command::new(&artefacts::artefacts()?.cli);
    report
        .args(["report", "shop.trodden", "--format", "json"])
        .current_dir(root);
    let report: Value = serde_json::from_str(&process::run(&mut report, LIMIT)?.success()?.stdout)?;
    let mut checked = 0;
    for method in report["methods"].as_array().ok_or("no methods")? {
        for branch in method["branches"].as_array().ok_or("no branches")? {
            let made = branch.get("compiler_made").is_some();
            let hover = seen["hovers"][branch["line"].to_string()].as_str();
            for (count, outcome) in ["taken", "not_taken"].iter().zip([0, 1]).filter(|_| !made) {
                let count = match branch[count].as_u64().ok_or("no count")? {
                    0 => "never".to_owned(),
                    count => count.to_string(),
                };
                let outcome = branch["outcomes"][outcome].as_str().ok_or("no outcome")?;
                let row = format!("| {outcome} | {count} |");
                assert!(
                    hover.is_some_and(|hover| hover.contains(&row)),
                    "{row}: {hover:?}"
                );
                checked += 1;
            }
        }
    }
    assert!(checked >= 6, "{checked}");
    Ok(())
}

/// The program is edited and compiled again: the class files say where unchanged methods are, and which are
/// others.
fn built_again(library: &Path, jdk: &Jdk, root: &Path, file: &Path) -> Result<()> {
    let edited = SHOP
        .replace("package shop;\n", "package shop;\n\n// A comment.\n")
        .replace("n % 4 == 0", "n % 5 == 0");
    fs::write(file, &edited)?;
    // Not yet compiled: the last commit before the run has another condition in `price`.
    let followed = shown(library, root, file, &[])?;
    let note = followed["lenses"][0][1].as_str().unwrap_or_default();
    assert!(
        note.starts_with("2 of 3 methods edited since") && note.contains("lines by commit"),
        "{followed}"
    );
    assert!(
        title(&followed, &edited, "int idle(").starts_with("never ran"),
        "{followed}"
    );
    let mut javac = jdk.command("javac");
    javac
        .args(["-g", "-d"])
        .arg(root.join("target/classes"))
        .arg(file);
    process::run(&mut javac, LIMIT)?.success()?;
    let built = shown(library, root, file, &[])?;
    let note = built["lenses"][0][1].as_str().unwrap_or_default();
    assert!(note.starts_with("1 of 3 methods edited since"), "{built}");
    assert!(
        title(&built, &edited, "int price(").starts_with("200 calls"),
        "{built}"
    );
    assert!(
        title(&built, &edited, "n % 10 == 0)").contains("yes 20"),
        "{built}"
    );
    assert!(
        title(&built, &edited, "void main(").starts_with("edited since: 1 call"),
        "{built}"
    );
    Ok(())
}
