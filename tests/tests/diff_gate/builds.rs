//! `trodden gate` on builds that know nothing of it: a line per test, and a change of 1 % that fails; and on
//! tests that say themselves what they allow.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use trodden_tests::artefacts::artefacts;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, build};

const LIMIT: Duration = Duration::from_secs(900);
const FILES: [&str; 6] = [
    "pom.xml",
    "build.gradle",
    "settings.gradle",
    "run",
    "src/main/java/orders/Order.java",
    "src/test/java/orders/OrderTest.java",
];
const ORDER: &str = "src/main/java/orders/Order.java";
const TEST: &str = "src/test/java/orders/OrderTest.java";

fn sample() -> Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new().prefix("a gate ").tempdir()?;
    let here = Path::new(build::ROOT).join("../gradle-example/gate");
    for file in FILES {
        let to = folder.path().join(file);
        fs::create_dir_all(to.parent().ok_or("no parent")?)?;
        fs::copy(here.join(file), to)?;
    }
    Ok(folder)
}

fn command(program: &Path, folder: &Path) -> Result<Command> {
    let artefacts = artefacts()?;
    let mut run = Command::new(program);
    run.current_dir(folder)
        .env("TRODDEN", &artefacts.cli)
        .env("TRODDEN_AGENT", &artefacts.agent)
        .env_remove("JAVA_TOOL_OPTIONS");
    Ok(run)
}

/// The sample's script.
fn run(folder: &Path, tool: &str) -> Result<Outcome> {
    let mut run = command(&folder.join("run"), folder)?;
    process::run(run.env("BUILD", tool), LIMIT)
}

fn trodden(folder: &Path, arguments: &[&str]) -> Result<Outcome> {
    let mut run = command(&artefacts()?.cli, folder)?;
    process::run(run.args(arguments), LIMIT)
}

fn record(folder: &Path, file: &str) -> Result<Outcome> {
    let maven = [
        "gate", "record", "--runs", "1", "-o", file, "--", "mvn", "-q", "-B", "test",
    ];
    trodden(folder, &maven)
}

fn edit(file: &Path, old: &str, new: &str) -> Result<()> {
    let text = fs::read_to_string(file)?;
    assert!(text.contains(old), "{old}");
    Ok(fs::write(file, text.replace(old, new))?)
}

fn a_change_fails_the_build(tool: &str, out: &str) -> Result<()> {
    let folder = sample()?;
    let said = run(folder.path(), tool)?.success()?;
    assert!(
        said.stdout
            .contains("No test does over 0.5 % more work than before; 4 tests the same."),
        "{}",
        said.stdout
    );
    // What ran between tests is no test, and what JVMs say of our own options is left out.
    assert!(said.stderr.contains(": 4 tests, "), "{}", said.stderr);
    assert!(!said.stderr.contains("Picked up"), "{}", said.stderr);
    // The same work is the same file, to the byte.
    let base = fs::read_to_string(folder.path().join("base.gate"))?;
    assert_eq!(
        base,
        fs::read_to_string(folder.path().join(out).join("new.gate"))?
    );
    let names: Vec<&str> = (base.lines())
        .filter(|line| line.starts_with("test\t"))
        .filter_map(|line| line.split('\t').nth(4))
        .collect();
    assert_eq!(
        names,
        [
            "(between tests)",
            "orders.OrderTest.manyOrders()",
            "orders.OrderTest.membersPayNoMore(int)",
            "orders.OrderTest.onesAndTwos()",
            "orders.OrderTest.whatIsThrownIsCountedUpToThere()",
        ]
    );

    edit(&folder.path().join(ORDER), "quantity > 40", "quantity > 10")?;
    let said = run(folder.path(), tool)?;
    assert_eq!(said.status.code(), Some(3), "{}{}", said.stdout, said.stderr);
    let out = said.stdout;
    assert!(
        out.contains("1 test does over 0.5 % more work than before"),
        "{out}"
    );
    assert!(out.contains("orders.OrderTest.manyOrders()"), "{out}");
    assert!(out.contains("grew: orders.Order.price(int, boolean)"), "{out}");
    assert!(out.contains("quantity > 10 → yes"), "{out}");
    Ok(())
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: a build by Maven, twice")]
fn a_change_of_one_percent_fails_the_build_by_maven() -> Result<()> {
    a_change_fails_the_build("maven", "target")
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: a build by Gradle, twice")]
fn a_change_of_one_percent_fails_the_build_by_gradle() -> Result<()> {
    if !process::is_there("gradle") {
        return Ok(());
    }
    a_change_fails_the_build("gradle", "build")
}

/// The annotation is no part of the program's artefacts: its source is what the dependency has.
fn add_annotation(folder: &Path) -> Result<()> {
    let annotation = folder.join("src/test/java/trodden/junit/Gate.java");
    fs::create_dir_all(annotation.parent().ok_or("no parent")?)?;
    let source = "../build-plugins/junit/src/main/java/trodden/junit/Gate.java";
    fs::copy(Path::new(build::ROOT).join(source), annotation)?;
    Ok(())
}

/// The module has the annotation's package then, and does not export it.
#[test]
#[cfg_attr(feature = "change", ignore = "all: one build stays")]
fn a_test_in_a_module_says_so_too() -> Result<()> {
    let folder = sample()?;
    let folder = folder.path();
    add_annotation(folder)?;
    let module = "module orders {\n    exports orders;\n}\n";
    fs::write(folder.join("src/main/java/module-info.java"), module)?;
    let limit = "@trodden.junit.Gate(maxGrowth = \"2%\")\n    void manyOrders";
    edit(&folder.join(TEST), "void manyOrders", limit)?;
    record(folder, "module.gate")?.success()?;
    let file = fs::read_to_string(folder.join("module.gate"))?;
    assert!(file.contains("\torders.OrderTest.manyOrders()"), "{file}");
    let limits = file.lines().filter(|line| line.starts_with("limit\t"));
    assert_eq!(limits.collect::<Vec<_>>(), ["limit\t2 %"], "{file}");
    Ok(())
}

#[test]
fn a_test_says_itself_what_it_allows() -> Result<()> {
    let folder = sample()?;
    let folder = folder.path();
    let test = folder.join(TEST);
    add_annotation(folder)?;
    edit(
        &test,
        "class OrderTest",
        "@trodden.junit.Gate(maxGrowth = \"0%\")\nclass OrderTest",
    )?;
    let own = |words: &str| format!("@trodden.junit.Gate(maxGrowth = \"{words}\")\n    void manyOrders");
    edit(&test, "void manyOrders", &own("2 %"))?;
    record(folder, "base.gate")?.success()?;
    let base = fs::read_to_string(folder.join("base.gate"))?;
    let limits: Vec<&str> = (base.lines())
        .filter(|line| line.starts_with("limit\t"))
        .collect();
    // What is between tests has none.
    assert_eq!(limits, ["limit\t2 %", "limit\t0 %", "limit\t0 %", "limit\t0 %"]);

    edit(&folder.join(ORDER), "quantity > 40", "quantity > 10")?;
    record(folder, "new.gate")?.success()?;
    // Its own limit goes before that of the command line.
    let compare = ["gate", "compare", "base.gate", "new.gate", "--fail-on", "0.1%"];
    let out = trodden(folder, &compare)?.success()?.stdout;
    assert!(
        out.starts_with("No test does more work than it may; 1 test changed"),
        "{out}"
    );
    assert!(out.contains("its own limit is 2 % more"), "{out}");

    edit(&test, &own("2 %"), &own("0.5"))?;
    record(folder, "new.gate")?.success()?;
    // No limit of the command line is needed, nor does a large one help.
    for options in [&[][..], &["--fail-on", "50%"]] {
        let compare = [&["gate", "compare", "base.gate", "new.gate"], options].concat();
        let said = trodden(folder, &compare)?;
        assert_eq!(said.status.code(), Some(3), "{}", said.stdout);
        assert!(
            said.stdout.starts_with("1 test does more work than it may"),
            "{}",
            said.stdout
        );
        assert!(said.stdout.contains("quantity > 10 → yes"), "{}", said.stdout);
    }

    edit(&test, &own("0.5"), &own("little"))?;
    let said = record(folder, "bad.gate")?;
    assert_eq!(said.status.code(), Some(1));
    let why = "orders.OrderTest.manyOrders() has @Gate(maxGrowth = \"little\"), which is no percentage";
    assert!(said.stderr.contains(why), "{}", said.stderr);
    assert!(!folder.join("bad.gate").exists());
    Ok(())
}
