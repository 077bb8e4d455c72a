//! Coverage against JaCoCo's, in the formats that others read; thresholds; and the commands of
//! docs/coverage.md.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::jacoco::{Jacoco, facts};
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts, build};

const LIMIT: Duration = Duration::from_secs(200);

/// The program of `tests/coverage`, compiled.
struct Shop {
    folder: tempfile::TempDir,
    jdk: Jdk,
    jacoco: Jacoco,
}

impl Shop {
    fn new(jdk: &Jdk) -> Result<Shop> {
        let shop = Shop {
            folder: tempfile::tempdir()?,
            jdk: jdk.clone(),
            jacoco: Jacoco::fetched()?,
        };
        let files = ["Shop.java", "Unused.java"].map(|file| sources().join("shop").join(file));
        let mut javac = jdk.command("javac");
        javac
            .args(["--release", "17", "-g", "-d"])
            .arg(shop.path("classes"))
            .args(files);
        process::run(&mut javac, LIMIT)?.success()?;
        Ok(shop)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, flags: &[String]) -> Result<Outcome> {
        let mut java = self.jdk.command("java");
        java.args(flags)
            .arg("-cp")
            .arg(self.path("classes"))
            .arg("shop.Shop");
        process::run(&mut java, LIMIT)?.success()
    }

    fn trodden_flag(&self, file: &str) -> Result<String> {
        let agent = artefacts::artefacts()?.agent.display();
        let file = self.path(file);
        Ok(format!(
            "-agentpath:{agent}=start,profile=coverage,coverage=paths,include=shop.*,file={}",
            file.display()
        ))
    }

    fn jacoco_flag(&self, file: &str) -> String {
        self.jacoco.flag(&self.path(file))
    }

    /// JaCoCo's own report.
    fn jacoco_report(&self, exec: &str) -> Result<String> {
        self.jacoco
            .report(&self.jdk, &self.path(exec), &self.path("classes"))
    }

    fn trodden(&self, arguments: &[&str]) -> Result<Outcome> {
        let mut trodden = Command::new(&artefacts::artefacts()?.cli);
        trodden.current_dir(self.folder.path()).args(arguments);
        process::run(&mut trodden, LIMIT)
    }

    fn json(&self, file: &str) -> Result<Value> {
        let arguments = [
            "report",
            file,
            "--format",
            "coverage-json",
            "--classes",
            "classes",
        ];
        Ok(serde_json::from_str(
            &self.trodden(&arguments)?.success()?.stdout,
        )?)
    }
}

fn sources() -> PathBuf {
    Path::new(build::ROOT).join("coverage")
}

#[test]
fn lines_and_branches_are_those_of_jacoco() -> Result<()> {
    for jdk in Jdk::ends()? {
        let shop = Shop::new(&jdk)?;
        let plain = shop.run(&[])?;
        assert_eq!(shop.run(&[shop.jacoco_flag("alone.exec")])?.stdout, plain.stdout);
        let theirs = shop.jacoco_report("alone.exec")?;
        assert_eq!(
            shop.run(&[shop.trodden_flag("alone.trodden")?])?.stdout,
            plain.stdout
        );
        let blocks = shop
            .trodden_flag("blocks.trodden")?
            .replace(",coverage=paths", "");
        assert_eq!(shop.run(&[blocks])?.stdout, plain.stdout);
        let xml = |profile: &str, file: &str| -> Result<BTreeMap<String, String>> {
            let arguments = ["report", profile, "--format", "jacoco", "--classes", "classes"];
            shop.trodden(&[&arguments[..], &["-o", file]].concat())?
                .success()?;
            Ok(facts(&fs::read_to_string(shop.path(file))?))
        };
        let theirs = facts(&theirs);
        assert!(theirs.len() > 100, "{theirs:#?}");
        let ours = xml("alone.trodden", "ours.xml")?;
        assert_eq!(xml("blocks.trodden", "blocks.xml")?, ours);
        for counter in [" BRANCH", " METHOD", " CLASS", " COMPLEXITY"] {
            assert_eq!(ours[counter], theirs[counter], "{counter}");
        }
        // Ours have four instructions more, on two lines: those that ran before an exception came.
        let (known, seen) = (covered_lines(&ours), covered_lines(&theirs));
        let mut more = 0;
        for (line, (instructions, branches)) in &known {
            let (least, same) = seen[line];
            assert_eq!(*branches, same, "{line}");
            assert!(*instructions >= least, "{line}");
            more += instructions - least;
        }
        assert_eq!((known.len(), more), (seen.len(), 4), "{known:?}");

        let mut java = jdk.command("java");
        java.arg(sources().join("Validate.java"));
        java.arg(shop.path("ours.xml")).arg(&shop.jacoco.dtd);
        assert_eq!(process::run(&mut java, LIMIT)?.success()?.stdout, "valid\n");

        let beside: Value = serde_json::from_str(&fs::read_to_string(shop.path("ours.xml.paths.json"))?)?;
        assert_eq!(beside, shop.json("alone.trodden")?);
        shop_paths(&beside);

        // Both at once, in either order: neither disturbs the other.
        for (name, trodden_first) in [("first", true), ("second", false)] {
            let mut flags = vec![
                shop.jacoco_flag(&format!("{name}.exec")),
                shop.trodden_flag(&format!("{name}.trodden"))?,
            ];
            if trodden_first {
                flags.reverse();
            }
            assert_eq!(shop.run(&flags)?.stdout, plain.stdout);
            assert_eq!(
                facts(&shop.jacoco_report(&format!("{name}.exec"))?),
                theirs,
                "{name}"
            );
            let file = format!("{name}.trodden");
            // To the last path and instruction.
            assert_eq!(shop.json(&file)?, beside, "{name}");
            assert_eq!(xml(&file, "both.xml")?, ours, "{name}");
        }
    }
    Ok(())
}

/// Instructions and branches that ran, by line.
fn covered_lines(facts: &BTreeMap<String, String>) -> BTreeMap<&str, (u64, u64)> {
    let number = |attributes: &str, name: &str| {
        let from = attributes
            .find(&format!("{name}=\""))
            .map(|at| at + name.len() + 2);
        let value = from.and_then(|from| attributes[from..].split('"').next());
        value.and_then(|value| value.parse().ok()).unwrap_or(0)
    };
    let lines = facts.iter().filter(|(key, _)| key.contains(" line "));
    lines
        .map(|(key, value)| (key.as_str(), (number(value, "ci"), number(value, "cb"))))
        .collect()
}

/// Nothing is missing that JaCoCo saw of a program whose paths exceptions cut off, and which ends in the
/// middle of a recursion.
#[test]
fn what_jacoco_sees_of_cut_paths_is_covered() -> Result<()> {
    let jdk = &Jdk::oldest()?;
    let shop = Shop::new(jdk)?;
    let source = Path::new(build::ROOT).join("targets/Cuts.java");
    let mut javac = jdk.command("javac");
    javac.args(["--release", "17", "-g", "-d"]);
    process::run(javac.arg(shop.path("cuts")).arg(&source), LIMIT)?.success()?;
    let run = |flag: &str| -> Result<Outcome> {
        let mut java = jdk.command("java");
        java.arg(flag).arg("-cp").arg(shop.path("cuts")).arg("Cuts");
        process::run(&mut java, LIMIT)
    };
    assert_eq!(run(&shop.jacoco_flag("cuts.exec"))?.status.code(), Some(3));
    let flag = shop.trodden_flag("cuts.trodden")?.replace("shop.*", "Cuts*");
    let theirs = shop
        .jacoco
        .report(jdk, &shop.path("cuts.exec"), &shop.path("cuts"))?;
    let theirs = facts(&theirs);
    let theirs = covered_lines(&theirs);
    let mut missing = Vec::new();
    let plain = flag.replace("profile=coverage,coverage=paths", "probe=counters");
    for flag in [plain, flag] {
        assert_eq!(run(&flag)?.status.code(), Some(3));
        let arguments = [
            "report",
            "cuts.trodden",
            "--format",
            "jacoco",
            "--classes",
            "cuts",
        ];
        let ours = facts(&shop.trodden(&arguments)?.success()?.stdout);
        let ours = covered_lines(&ours);
        assert!(theirs.len() > 80, "{theirs:#?}");
        let less = theirs.iter().filter(|(line, (instructions, branches))| {
            let (own, own_branches) = ours.get(*line).copied().unwrap_or_default();
            (*instructions > 0 && own == 0) || own_branches < *branches
        });
        missing.push(less.map(|(line, _)| (*line).to_owned()).collect::<Vec<_>>());
    }
    // Without cut paths there is less: that is what they are for.
    assert!(!missing[0].is_empty());
    assert_eq!(missing[1], Vec::<String>::new());
    let text = shop.trodden(&["report", "cuts.trodden"])?.success()?.stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("where one was cut off"), "{text}");
    Ok(())
}

/// Checks the paths against the program's source.
fn shop_paths(coverage: &Value) {
    let method = |name: &str| {
        let mut methods = coverage["methods"].as_array().unwrap().iter();
        methods
            .find(|m| m["name"] == name)
            .unwrap_or_else(|| panic!("no {name}"))
    };
    let price = method("price");
    assert_eq!(
        (price["covered_paths"].as_u64(), price["possible_paths"].as_u64()),
        (Some(3), Some(4))
    );
    let day = method("day");
    assert_eq!(
        (day["covered_paths"].as_u64(), day["possible_paths"].as_u64()),
        (Some(3), Some(4))
    );
    let flip = &day["nearest"]["flip"];
    assert_eq!(flip["instead"], "case 90");
    assert_eq!(flip["line"], 33);
    let sign = method("sign");
    assert_eq!(
        (sign["covered_paths"].as_u64(), sign["possible_paths"].as_u64()),
        (Some(0), Some(3))
    );
    let one = method("one");
    assert_eq!(
        (one["covered_paths"].as_u64(), one["possible_paths"].as_u64()),
        (Some(0), Some(1))
    );
    assert_eq!(coverage["uncounted"].as_array().map(Vec::len), Some(0));
}

#[test]
fn lcov_is_read_by_lcov() -> Result<()> {
    let shop = Shop::new(&Jdk::oldest()?)?;
    shop.run(&[shop.trodden_flag("alone.trodden")?])?;
    let sources = sources().display().to_string();
    let arguments = [
        "report",
        "alone.trodden",
        "--format",
        "lcov",
        "--classes",
        "classes",
    ];
    let rest = ["--sources", &sources, "-o", "shop.info"];
    shop.trodden(&[&arguments[..], &rest].concat())?.success()?;
    let text = fs::read_to_string(shop.path("shop.info"))?;
    assert!(text.contains(&format!("SF:{sources}/shop/Shop.java\n")), "{text}");
    // price() ran six times, its first branch jumped over line 16 in all cases but two.
    assert!(text.contains("\nFNDA:6,Shop.price(IZ)I\n"), "{text}");
    assert!(
        text.contains("\nDA:14,6\n") && text.contains("\nDA:16,2\n"),
        "{text}"
    );
    assert!(text.contains("\nBRDA:15,0,0,4\nBRDA:15,0,1,2\n"), "{text}");
    assert!(text.contains("\nBRDA:6,0,0,-\n"), "nothing reached it: {text}");
    let totals = shop.json("alone.trodden")?["totals"].clone();
    let sum = |key: &str| -> u64 {
        let numbers = text
            .lines()
            .filter_map(|line| line.strip_prefix(key)?.parse::<u64>().ok());
        numbers.sum()
    };
    assert_eq!((Some(sum("LH:")), Some(sum("LF:"))), pair(&totals["lines"]));
    assert_eq!((Some(sum("BRH:")), Some(sum("BRF:"))), pair(&totals["branches"]));
    assert_eq!((Some(sum("FNH:")), Some(sum("FNF:"))), pair(&totals["methods"]));

    let mut genhtml = Command::new("genhtml");
    genhtml.current_dir(shop.folder.path());
    genhtml.args(["--branch-coverage", "-o", "html", "shop.info"]);
    match process::run(&mut genhtml, LIMIT) {
        Err(error) if which("genhtml").is_none() => eprintln!("SKIPPED, no genhtml: {error}"),
        outcome => {
            let told = outcome?.success()?.stdout;
            for (what, key) in [
                ("lines", "lines"),
                ("functions", "methods"),
                ("branches", "branches"),
            ] {
                let (Some(covered), Some(total)) = pair(&totals[key]) else {
                    panic!("no {key}");
                };
                let noun = if total == 1 { &what[..what.len() - 1] } else { what };
                assert!(told.contains(&format!("({covered} of {total} {noun})")), "{told}");
            }
        }
    }
    Ok(())
}

fn pair(ratio: &Value) -> (Option<u64>, Option<u64>) {
    (ratio["covered"].as_u64(), ratio["total"].as_u64())
}

fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

#[test]
fn rules_decide_the_exit_code() -> Result<()> {
    let shop = Shop::new(&Jdk::oldest()?)?;
    shop.run(&[shop.trodden_flag("alone.trodden")?])?;
    let check = |rules: &str| {
        let arguments = ["check", "alone.trodden", "--classes", "classes", "--rules", rules];
        shop.trodden(&arguments)
    };
    let good = check("in shop.Shop#price: paths >= 75%; each class in shop.Shop*: missed methods <= 1")?;
    assert_eq!(good.status.code(), Some(0), "{}{}", good.stdout, good.stderr);
    assert_eq!(good.stdout.matches("kept").count(), 2);
    let broken = check("lines >= 10%; each class: methods >= 1%")?;
    assert_eq!(broken.status.code(), Some(3));
    assert!(
        broken.stdout.contains("shop.Unused: 0 of 3 methods (0.0 %)"),
        "{}",
        broken.stdout
    );
    assert!(!broken.stdout.contains("shop.Shop:"), "{}", broken.stdout);
    assert_eq!(check("lines > 1")?.status.code(), Some(2));
    assert_eq!(check("in no.Such: lines >= 1%")?.status.code(), Some(1));
    fs::write(
        shop.path("rules"),
        "# of ours\npaths >= 1%\nmissed classes <= 0\n",
    )?;
    let from_file = check("@rules")?;
    assert_eq!(from_file.status.code(), Some(3));
    assert!(
        from_file.stdout.contains("kept    paths >= 1%"),
        "{}",
        from_file.stdout
    );
    Ok(())
}

#[test]
fn what_cannot_tell_coverage_is_refused() -> Result<()> {
    let shop = Shop::new(&Jdk::oldest()?)?;
    let flag = shop
        .trodden_flag("sampled.trodden")?
        .replace("profile=coverage,coverage=paths", "probe=yieldpoint");
    shop.run(&[flag])?;
    let outcome = shop.trodden(&["report", "sampled.trodden", "--format", "coverage"])?;
    assert_eq!(outcome.status.code(), Some(1));
    assert!(outcome.stderr.contains("probe=counters"), "{}", outcome.stderr);
    shop.run(&[shop.trodden_flag("alone.trodden")?])?;
    let outcome = shop.trodden(&["report", "alone.trodden", "--format", "jacoco"])?;
    assert_eq!(outcome.status.code(), Some(1));
    assert!(outcome.stderr.contains("--classes"), "{}", outcome.stderr);
    let outcome = shop.trodden(&["report", "alone.trodden", "--classes", "classes"])?;
    assert_eq!(outcome.status.code(), Some(2));
    // Instrumented classes are not what --classes wants.
    let arguments = ["instrument", "classes", "--probe", "counters", "-o", "probed"];
    shop.trodden(&arguments)?.success()?;
    let outcome = shop.trodden(&[
        "report",
        "alone.trodden",
        "--format",
        "coverage",
        "--classes",
        "probed",
    ])?;
    assert_eq!(outcome.status.code(), Some(1));
    assert!(
        outcome.stderr.contains("already instrumented"),
        "{}",
        outcome.stderr
    );
    Ok(())
}

/// Code that was instrumented ahead gives the same, and so does a profile in which straight methods have no
/// probes, but for those.
#[test]
fn ahead_and_without_single_path_methods() -> Result<()> {
    let jdk = &Jdk::oldest()?;
    let shop = Shop::new(jdk)?;
    shop.run(&[shop.trodden_flag("alone.trodden")?])?;
    let expected = shop.json("alone.trodden")?;
    let arguments = [
        "instrument",
        "classes",
        "--probe",
        "counters",
        "--single-path-methods",
        "probe",
        "--cut-paths",
        "count",
    ];
    shop.trodden(&[&arguments[..], &["-o", "probed"]].concat())?
        .success()?;
    let mut java = jdk.command("java");
    java.current_dir(shop.folder.path());
    java.arg(format!(
        "-Dtrodden.library={}",
        artefacts::artefacts()?.agent.display()
    ));
    java.args([
        "-Dtrodden.options=file=ahead.trodden",
        "-cp",
        "probed",
        "shop.Shop",
    ]);
    process::run(&mut java, LIMIT)?.success()?;
    // All is the same, conditions too; only open paths are not read.
    let mut ahead = shop.json("ahead.trodden")?;
    let not_counted = ahead["not_counted"].take();
    assert!(
        not_counted
            .as_str()
            .is_some_and(|text| text.contains("that had not ended")),
        "{not_counted}"
    );
    let mut same = expected.clone();
    same["not_counted"].take();
    assert!(ahead.to_string().contains("\"condition\":\""));
    assert_eq!(ahead, same);

    let flag = shop
        .trodden_flag("few.trodden")?
        .replace("profile=coverage,coverage=paths", "probe=counters");
    shop.run(&[flag])?;
    let few = shop.json("few.trodden")?;
    let reasons: Vec<&str> = few["uncounted"]
        .as_array()
        .ok_or("no list")?
        .iter()
        .filter_map(|u| u["reason"].as_str())
        .collect();
    assert!(reasons.len() >= 5, "{reasons:?}");
    assert!(reasons.iter().all(|r| r.contains("single path")), "{reasons:?}");
    assert_eq!(few["totals"]["branches"], expected["totals"]["branches"]);
    assert!(
        few["methods"]
            .as_array()
            .ok_or("no list")?
            .iter()
            .all(|m| m["possible_paths"].as_u64() > Some(1))
    );
    Ok(())
}

/// The blocks of docs/coverage.md, one after the other, in an empty folder; and what it says that they print.
#[test]
fn the_commands_of_the_documentation_work() -> Result<()> {
    let page = fs::read_to_string(Path::new(build::ROOT).join("../docs/coverage.md"))?;
    let mut script = String::from("set -eu\n");
    let mut expected = Vec::new();
    for block in page.split("\n```").skip(1).step_by(2) {
        let (kind, text) = block.split_once('\n').unwrap_or_default();
        match kind {
            "sh" => script.push_str(&format!("{text}\n")),
            "text" => expected.push(text.trim_end().to_owned()),
            _ => {}
        }
    }
    assert!(expected.len() >= 2);
    let artefacts = artefacts::artefacts()?;
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let path = std::env::var("PATH")?;
        let tools = [
            jdk.home.join("bin"),
            artefacts.cli.parent().ok_or("no folder")?.to_owned(),
        ];
        let path = format!("{}:{}:{path}", tools[0].display(), tools[1].display());
        let mut bash = Command::new("bash");
        bash.current_dir(folder.path()).arg("-c").arg(&script);
        bash.env("PATH", path)
            .env("TRODDEN_AGENT", &artefacts.agent)
            .env_remove("JAVA_TOOL_OPTIONS");
        let outcome = process::run(&mut bash, LIMIT)?.success()?;
        for text in &expected {
            assert!(
                outcome.stdout.contains(text.as_str()),
                "{text}\n---\n{}",
                outcome.stdout
            );
        }
        for file in [
            "ticket.info",
            "ticket.info.paths.json",
            "ticket.xml",
            "ticket.xml.paths.json",
        ] {
            assert!(folder.path().join(file).is_file(), "{file}");
        }
    }
    Ok(())
}
