//! Coverage in the formats of others, each read by a program that we did not write; and the folder of pages,
//! whose links are followed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts, build, readers};

const LIMIT: Duration = Duration::from_secs(200);

/// The program of `tests/coverage`, which ran with `profile=coverage`.
struct Ran {
    folder: tempfile::TempDir,
    jdk: Jdk,
}

impl Ran {
    fn new() -> Result<Ran> {
        let ran = Ran {
            folder: tempfile::tempdir()?,
            jdk: Jdk::oldest()?,
        };
        fs::create_dir_all(ran.path("src/shop"))?;
        let mut javac = ran.jdk.command("javac");
        javac.args(["-g", "-d"]).arg(ran.path("classes"));
        for file in ["Shop.java", "Unused.java"] {
            let copy = ran.path("src/shop").join(file);
            fs::copy(Path::new(build::ROOT).join("coverage/shop").join(file), &copy)?;
            javac.arg(copy);
        }
        process::run(&mut javac, LIMIT)?.success()?;
        let mut java = ran.jdk.command("java");
        java.arg(format!(
            "-agentpath:{}=start,profile=coverage,quiet=true,include=shop.*,file={}",
            artefacts::artefacts()?.agent.display(),
            ran.path("shop.trodden").display()
        ));
        process::run(java.arg("-cp").arg(ran.path("classes")).arg("shop.Shop"), LIMIT)?.success()?;
        Ok(ran)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn coverage(&self, arguments: &[&str]) -> Result<Outcome> {
        let mut trodden = Command::new(&artefacts::artefacts()?.cli);
        trodden.current_dir(self.folder.path());
        trodden.args([
            "coverage",
            "shop.trodden",
            "--classes",
            "classes",
            "--sources",
            "src",
        ]);
        process::run(trodden.args(arguments), LIMIT)
    }

    fn json(&self) -> Result<Value> {
        let outcome = self.coverage(&["--format", "json"])?.success()?;
        Ok(serde_json::from_str(&outcome.stdout)?)
    }

    fn total(&self, what: &str) -> Result<(u64, u64)> {
        let totals = &self.json()?["totals"][what];
        let number = |key: &str| totals[key].as_u64().ok_or("no number");
        Ok((number("covered")?, number("total")?))
    }
}

/// Runs a module of Python in a folder.
fn python(tools: &Path, folder: &Path, arguments: &[&str]) -> Result<Outcome> {
    let mut python = Command::new(tools.join("python"));
    process::run(python.current_dir(folder).args(arguments), LIMIT)?.success()
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: a reader from PyPI")]
fn cobertura_is_read_by_pycobertura() -> Result<()> {
    let ran = Ran::new()?;
    ran.coverage(&["--format", "cobertura", "-o", "cobertura.xml"])?
        .success()?;
    let (covered, total) = ran.total("lines")?;
    let Some(tools) = readers::from_pypi() else {
        return Ok(());
    };
    let arguments = ["-m", "pycobertura", "show", "--format", "json", "cobertura.xml"];
    let shown = python(&tools, ran.folder.path(), &arguments)?.stdout;
    let shown: Value = serde_json::from_str(&shown)?;
    let sums = &shown["total"];
    assert_eq!(sums["Stmts"].as_u64(), Some(total), "{shown:#}");
    let files: Vec<&str> = shown["files"]
        .as_array()
        .ok_or("no files")?
        .iter()
        .filter_map(|file| file["Filename"].as_str())
        .collect();
    assert_eq!(files, ["shop/Shop.java", "shop/Unused.java"]);
    // It counts lines that lack a way of a branch (~) as missing.
    let missing = |file: usize| shown["files"][file]["Missing"].as_str();
    assert_eq!(missing(0), Some("~33, 40, ~70, 75"));
    assert_eq!(missing(1), Some("4-13"));
    assert_eq!(sums["Miss"].as_u64(), Some(total - covered + 2), "{shown:#}");
    Ok(())
}

/// A change that adds the whole program: what of it ran is what we say.
#[test]
#[cfg_attr(feature = "change", ignore = "all: a reader from PyPI")]
fn diff_cover_reads_cobertura_and_jacoco() -> Result<()> {
    let ran = Ran::new()?;
    let (covered, total) = ran.total("lines")?;
    for format in ["cobertura", "jacoco", "lcov"] {
        let file = format!("{format}.{}", if format == "lcov" { "info" } else { "xml" });
        ran.coverage(&["--format", format, "-o", &file])?.success()?;
    }
    let Some(tools) = readers::from_pypi() else {
        return Ok(());
    };
    let git = |arguments: &[&str]| -> Result<()> {
        let mut git = Command::new("git");
        git.current_dir(ran.folder.path());
        git.args(["-c", "user.name=t", "-c", "user.email=t@localhost"])
            .args(arguments);
        process::run(&mut git, LIMIT)?.success().map(drop)
    };
    git(&["init", "-q", "-b", "main"])?;
    git(&["commit", "-q", "--allow-empty", "-m", "nothing"])?;
    git(&["checkout", "-q", "-b", "change"])?;
    git(&["add", "src"])?;
    git(&["commit", "-q", "-m", "the program"])?;
    for file in ["cobertura.xml", "jacoco.xml", "lcov.info"] {
        let arguments = [
            "-m",
            "diff_cover.diff_cover_tool",
            file,
            "--compare-branch",
            "main",
        ];
        let rest = ["--src-roots", "src", "--format", "json:told.json"];
        python(&tools, ran.folder.path(), &[&arguments[..], &rest].concat())?;
        let told: Value = serde_json::from_str(&fs::read_to_string(ran.path("told.json"))?)?;
        assert_eq!(told["total_num_lines"].as_u64(), Some(total), "{file}: {told:#}");
        let missed = told["total_num_violations"].as_u64();
        assert_eq!(missed, Some(total - covered), "{file}: {told:#}");
    }
    Ok(())
}

/// SonarQube's own schema, read by the JDK's validator.
#[test]
fn sonar_is_valid() -> Result<()> {
    let ran = Ran::new()?;
    ran.coverage(&["--format", "sonar", "-o", "sonar.xml"])?
        .success()?;
    let mut java = ran.jdk.command("java");
    let own = |name: &str| Path::new(build::ROOT).join("coverage").join(name);
    java.arg(own("ValidateSchema.java")).arg(ran.path("sonar.xml"));
    java.arg(own("sonar-generic-coverage.xsd"));
    assert_eq!(process::run(&mut java, LIMIT)?.success()?.stdout, "valid\n");
    let text = fs::read_to_string(ran.path("sonar.xml"))?;
    assert!(text.contains("<file path=\"src/shop/Shop.java\">"), "{text}");
    let count = |wanted: &str| text.matches(wanted).count() as u64;
    let (covered, total) = ran.total("lines")?;
    assert_eq!(
        (count("covered=\"true\""), count("<lineToCover")),
        (covered, total)
    );
    let sum = |name: &str| -> u64 {
        let wanted = format!(" {name}=\"");
        let values = text.split(&wanted).skip(1);
        values
            .filter_map(|rest| rest.split('"').next()?.parse::<u64>().ok())
            .sum()
    };
    assert_eq!(
        (sum("coveredBranches"), sum("branchesToCover")),
        ran.total("branches")?
    );
    Ok(())
}

/// All pages, by their names in the folder.
fn pages(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    for entry in walk(folder)? {
        let name = entry.strip_prefix(folder)?.display().to_string();
        pages.insert(name, fs::read_to_string(&entry)?);
    }
    Ok(pages)
}

fn walk(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            all.extend(walk(&path)?)
        } else {
            all.push(path)
        }
    }
    Ok(all)
}

fn values<'t>(text: &'t str, attribute: &'t str) -> impl Iterator<Item = &'t str> {
    let parts = text.split(attribute).skip(1);
    parts.filter_map(|rest| rest.strip_prefix("=\"")?.split('"').next())
}

#[test]
fn pages_lead_from_packages_to_source() -> Result<()> {
    let ran = Ran::new()?;
    let outcome = ran.coverage(&["--format", "html"])?;
    assert_eq!(outcome.status.code(), Some(2), "{outcome:?}");
    let outcome = ran.coverage(&["-o", "site.html"])?;
    assert_eq!(outcome.status.code(), Some(2), "{outcome:?}");
    ran.coverage(&["-o", "site/index.html"])?.success()?;
    let site = pages(&ran.path("site"))?;
    for page in [
        "index.html",
        "shop/index.html",
        "shop/Shop.html",
        "shop/Shop.java.html",
    ] {
        assert!(site.contains_key(page), "{:?}", site.keys());
    }
    let mut followed = BTreeSet::new();
    for (name, text) in site.iter().filter(|(name, _)| name.ends_with(".html")) {
        assert!(!text.contains("http://") && !text.contains("https://"), "{name}");
        let links = values(text, "href").chain(values(text, "src"));
        for link in links.filter(|link| !link.starts_with("data:")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            let target = match file.strip_prefix("../") {
                Some(up) => up.to_owned(),
                None if folder.is_empty() => file.to_owned(),
                None => format!("{folder}/{file}"),
            };
            let page = site
                .get(&target)
                .ok_or_else(|| format!("{name} leads to {link}"))?;
            assert!(
                anchor.is_empty() || values(page, "id").any(|id| id == anchor),
                "{name} leads to {link}"
            );
            followed.insert(target);
        }
    }
    assert_eq!(followed.len(), site.len(), "every file is led to");
    // The source's own words, at their line, with what never was.
    let source = &site["shop/Shop.java.html"];
    let row = |number: u32| {
        let from = source.find(&format!("id=\"L{number}\"")).unwrap_or(source.len());
        source[from..].split("</tr>").next().unwrap_or_default()
    };
    assert!(
        row(15).contains("class=\"ran\"") && row(15).contains("age &lt; 12"),
        "{}",
        row(15)
    );
    assert!(row(75).contains("class=\"never\""), "{}", row(75));
    // check() was called with values of both kinds, day() never with 90.
    assert!(
        row(33).contains("class=\"partly\"") && row(33).contains("never went to case 90"),
        "{}",
        row(33)
    );
    assert!(
        row(5).contains("<td class=\"line\"") && !row(5).contains("class=\"ran\""),
        "{}",
        row(5)
    );
    // What is worst comes first: a class of which nothing ran.
    let worst = site["index.html"].split("id=\"worst\"").nth(1).ok_or("no list")?;
    assert!(
        worst
            .split("</li>")
            .next()
            .is_some_and(|first| first.contains("never")),
        "{worst}"
    );

    // A second time in the same place; not over files of others.
    fs::write(ran.path("site/stale.html"), "old")?;
    ran.coverage(&["-o", "site"])?.success()?;
    assert!(!ran.path("site/stale.html").exists());
    fs::create_dir(ran.path("other"))?;
    fs::write(ran.path("other/mine.txt"), "mine")?;
    let outcome = ran.coverage(&["-o", "other"])?;
    assert_eq!(outcome.status.code(), Some(1), "{outcome:?}");
    assert_eq!(fs::read_to_string(ran.path("other/mine.txt"))?, "mine");

    let Some(browser) = readers::chromium() else {
        return Ok(());
    };
    let mut chromium = Command::new(browser);
    chromium.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
    chromium.arg(format!("--user-data-dir={}", ran.path("browser").display()));
    chromium.arg(format!("file://{}", ran.path("site/index.html").display()));
    let shown = process::run(&mut chromium, LIMIT)?.success()?.stdout;
    // The script ran, from a file: the heads of the table are buttons.
    assert!(
        shown.contains("<th scope=\"col\" data-type=\"text\"><button"),
        "{shown}"
    );
    Ok(())
}
