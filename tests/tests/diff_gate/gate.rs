//! `trodden gate`: instructions against a counter that knows nothing of paths, changes that must be found,
//! and runs that must be equal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::Value;
use trodden_tests::artefacts::artefacts;
use trodden_tests::jdk::Jdk;
use trodden_tests::{build, process};

const LIMIT: Duration = Duration::from_secs(120);

/// Programs, and whether they need pattern matching. `Overflow` is not among them: how deep the stack is, is
/// different in each run.
const PROGRAMS: [(&str, bool); 12] = [
    ("targets/Branches", false),
    ("targets/Classes", false),
    ("targets/Cuts", false),
    ("targets/Exceptions", false),
    ("targets/Loops", false),
    ("targets/ManyPaths", false),
    ("targets/Modern", true),
    ("targets/Switches", false),
    ("gate/Orders", false),
    ("gate/Ends", false),
    ("gate/Kernels", false),
    ("gate/Shared", false),
];

struct Place {
    folder: tempfile::TempDir,
    jdk: Jdk,
}

impl Place {
    fn new(jdk: Jdk) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Place { folder, jdk }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Compiles one source, with a change of its text if there is one.
    fn compiled(&self, source: &str, change: Option<(&str, &str)>, out: &str) -> PathBuf {
        let file = Path::new(build::ROOT).join(format!("{source}.java"));
        let mut text = std::fs::read_to_string(&file).unwrap();
        if let Some((old, new)) = change {
            assert!(text.contains(old), "{source} has no {old}");
            text = text.replace(old, new);
        }
        let folder = self.path(&format!("{out}-src"));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(file.file_name().unwrap());
        std::fs::write(&file, text).unwrap();
        let classes = self.path(out);
        build::javac(&self.jdk, ".", &[file], &classes).unwrap();
        classes
    }

    fn java(&self, classes: &Path, arguments: &[&str]) -> Vec<String> {
        let java = self
            .jdk
            .command("java")
            .get_program()
            .to_string_lossy()
            .into_owned();
        let classes = classes.to_string_lossy().into_owned();
        let mut words = vec![java, "-cp".to_owned(), classes];
        words.extend(arguments.iter().map(|&word| word.to_owned()));
        words
    }

    fn record(&self, file: &str, options: &[&str], command: &[String]) -> Output {
        let mut record = Command::new(&artefacts().unwrap().cli);
        record
            .args(["gate", "record", "-o"])
            .arg(self.path(file))
            .args(options);
        record.arg("--").args(command);
        record.output().unwrap()
    }

    fn recorded(&self, file: &str, options: &[&str], command: &[String]) -> String {
        let run = self.record(file, options, command);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    fn compare(&self, base: &str, new: &str, more: &[&str]) -> (String, Option<i32>) {
        let mut compare = Command::new(&artefacts().unwrap().cli);
        compare
            .args(["gate", "compare"])
            .arg(self.path(base))
            .arg(self.path(new))
            .args(more);
        let run = compare.output().unwrap();
        (String::from_utf8(run.stdout).unwrap(), run.status.code())
    }

    fn json(&self, base: &str, new: &str) -> Value {
        let (text, _) = self.compare(base, new, &["--format", "json", "--fail-on", "0.5%"]);
        serde_json::from_str(&text).unwrap()
    }

    /// Executed instructions per method (`Class.name`, overloads together) as an agent counts them that adds
    /// one to a counter per basic block; and how many of them made something.
    fn counted_by_blocks(&self, classes: &Path, main: &str) -> (BTreeMap<String, u64>, u64) {
        let out = self.path(&format!("{main}.blocks"));
        let mut java = self.jdk.command("java");
        java.arg(format!(
            "-javaagent:{}={},",
            build::counter_jar().unwrap().display(),
            out.display()
        ));
        java.arg("-cp").arg(classes).arg(main);
        process::run(&mut java, LIMIT).unwrap();
        let text = std::fs::read_to_string(out).unwrap();
        let mut sums = BTreeMap::new();
        for line in text.lines() {
            let (sum, method) = line.split_once(' ').unwrap();
            let name = method.split('(').next().unwrap().replace('/', ".");
            *sums.entry(name).or_default() += sum.parse::<u64>().unwrap();
        }
        let made = sums.remove("=new").unwrap();
        (sums, made)
    }
}

/// Instructions per method (`Class.name`, overloads together) of a gate file with one test.
fn methods(text: &str) -> BTreeMap<String, u64> {
    let rows = |word: &'static str| {
        text.lines()
            .map(|line| line.split('\t').collect::<Vec<_>>())
            .filter(move |line| line[0] == word)
    };
    let names: BTreeMap<&str, String> = rows("method")
        .map(|line| {
            (
                line[1],
                format!("{}.{}", line[4], line[5].split('(').next().unwrap()),
            )
        })
        .collect();
    let mut sums = BTreeMap::new();
    for line in rows("in") {
        *sums.entry(names[line[3]].clone()).or_default() += line[1].parse::<u64>().unwrap();
    }
    sums
}

/// The columns of the first line that begins with a word.
fn columns<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let line = text
        .lines()
        .find(|line| line.split('\t').next() == Some(word))
        .unwrap();
    line.split('\t').collect()
}

#[test]
fn instructions_are_those_of_a_block_counter() {
    for jdk in Jdk::ends().unwrap() {
        let place = Place::new(jdk);
        let mut compared = 0;
        for (source, modern) in PROGRAMS {
            if modern && place.jdk.feature < 21 {
                continue;
            }
            let main = source.rsplit('/').next().unwrap();
            let classes = place.compiled(source, None, main);
            let (blocks, made) = place.counted_by_blocks(&classes, main);
            let options = ["--ignore-exit-code", "--runs", "1"];
            let text = place.recorded(&format!("{main}.gate"), &options, &place.java(&classes, &[main]));
            let expected: u64 = blocks.values().sum();
            let what = format!("{main} on JDK {}", place.jdk.feature);
            assert_eq!(columns(&text, "test")[1], expected.to_string(), "{what}");
            assert_eq!(columns(&text, "new")[1], made.to_string(), "{what}");
            assert!(expected > 900, "{main} does too little: {expected}");
            // One sum could hide two errors: each method that the file names has its own. Overloads of
            // which one is too small to be named are short of it, so most are held to be equal, and none to
            // be more.
            let methods = methods(&text);
            let mut equal = 0;
            for (name, &instructions) in &methods {
                let counted = blocks.get(name).copied().unwrap_or(0);
                assert!(
                    instructions <= counted,
                    "{what}: {name} has {instructions}, not {counted}"
                );
                equal += usize::from(instructions == counted);
            }
            assert!(
                equal * 10 >= methods.len() * 9 && equal > 0,
                "{what}: {methods:?} {blocks:?}"
            );
            compared += 1;
        }
        assert!(compared >= 10, "only {compared} programs");
    }
}

#[test]
fn one_percent_more_breaks_and_is_named() {
    for jdk in Jdk::ends().unwrap() {
        let place = Place::new(jdk);
        let before = place.compiled("gate/Orders", None, "before");
        let base = place.recorded("base.gate", &[], &place.java(&before, &["Orders"]));
        // The same again is the same, to the byte; and it does not differ from itself.
        let again = place.recorded("again.gate", &[], &place.java(&before, &["Orders"]));
        assert_eq!(base, again);
        let (text, code) = place.compare("base.gate", "again.gate", &["--fail-on", "0%"]);
        assert_eq!(code, Some(0), "{text}");

        // What changes no code that runs is no change: other lines, another comment.
        let moved = place.compiled(
            "gate/Orders",
            Some(("    static int price", "\n\n    static int price")),
            "moved",
        );
        place.recorded("moved.gate", &["--runs", "1"], &place.java(&moved, &["Orders"]));
        assert_eq!(
            place.compare("base.gate", "moved.gate", &["--fail-on", "0"]).1,
            Some(0)
        );

        let after = place.compiled("gate/Orders", Some(("quantity > 40", "quantity > 10")), "after");
        place.recorded("new.gate", &[], &place.java(&after, &["Orders"]));
        let (text, code) = place.compare("base.gate", "new.gate", &["--fail-on", "0.5%"]);
        assert_eq!(code, Some(3), "{text}");
        assert!(text.contains("grew: Orders.price(int, boolean)"), "{text}");
        assert!(text.contains("quantity > 10 → yes"), "{text}");
        let (text, code) = place.compare("base.gate", "new.gate", &["--fail-on", "5%"]);
        assert_eq!(code, Some(0), "{text}");
        // Without a limit nothing fails.
        assert_eq!(place.compare("base.gate", "new.gate", &[]).1, Some(0));
        // Less work is no failure.
        assert_eq!(
            place.compare("new.gate", "base.gate", &["--fail-on", "0.5"]).1,
            Some(0)
        );

        let json = place.json("base.gate", "new.gate");
        assert_eq!(
            (&json["format"], &json["version"]),
            (&"trodden-gate".into(), &1.into())
        );
        assert_eq!(json["failed"], true);
        let test = &json["tests"][0];
        assert_eq!(test["name"], "Orders");
        assert_eq!(test["unstable"], Value::Null);
        let change = test["change"].as_f64().unwrap();
        assert!(change > 0.005 && change < 0.03, "{change}");
        let [b, a] = [0, 1].map(|which| test["instructions"][which].as_u64().unwrap());
        assert!((change - (a as f64 - b as f64) / b as f64).abs() < 1e-12);
        assert_eq!(test["grew"]["class"], "Orders");
        assert_eq!(test["grew"]["method"], "price(int, boolean)");
        assert_eq!(test["grew"]["file"], "Orders.java");
        assert!(
            test["grew"]["path"]
                .as_str()
                .unwrap()
                .contains("quantity > 10 → yes"),
            "{test:#}"
        );
        // The method's growth is all of the growth.
        let [b1, a1] = [0, 1].map(|which| test["grew"]["instructions"][which].as_u64().unwrap());
        assert_eq!(a1 - b1, a - b);
    }
}

#[test]
fn every_format_names_what_grew() {
    let place = Place::new(Jdk::oldest().unwrap());
    let before = place.compiled("gate/Orders", None, "before");
    let after = place.compiled("gate/Orders", Some(("quantity > 40", "quantity > 10")), "after");
    place.recorded("base.gate", &["--runs", "1"], &place.java(&before, &["Orders"]));
    place.recorded("new.gate", &["--runs", "1"], &place.java(&after, &["Orders"]));
    let fail = ["--fail-on", "0.5%"];
    let of = |format: &str| {
        place
            .compare(
                "base.gate",
                "new.gate",
                &[&fail[..], &["--format", format]].concat(),
            )
            .0
    };

    let markdown = of("markdown");
    assert!(
        markdown.starts_with("**1 test does over 0.5 % more work than before.**"),
        "{markdown}"
    );
    assert!(
        markdown.contains("| **+") && markdown.contains(" | Orders<br>"),
        "{markdown}"
    );
    assert!(markdown.contains("quantity &gt; 10 → yes"), "{markdown}");

    let junit = of("junit");
    assert!(
        junit.contains("<testsuite name=\"trodden gate\" tests=\"1\" failures=\"1\""),
        "{junit}"
    );
    assert!(junit.contains("quantity &gt; 10"), "{junit}");

    let folder = place.path("after-src");
    let sources = ["--format", "sarif", "--sources", folder.to_str().unwrap()];
    let (sarif, code) = place.compare("base.gate", "new.gate", &[&fail[..], &sources[..]].concat());
    assert_eq!(code, Some(3));
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "more-work");
    let place_of = &result["locations"][0]["physicalLocation"];
    assert!(
        place_of["artifactLocation"]["uri"]
            .as_str()
            .unwrap()
            .ends_with("/Orders.java"),
        "{result:#}"
    );
    let line = place_of["region"]["startLine"].as_u64().unwrap();
    assert!((3..=12).contains(&line), "{result:#}");
    // Nothing broken, no result.
    let (sarif, _) = place.compare(
        "base.gate",
        "base.gate",
        &[&fail[..], &["--format", "sarif"]].concat(),
    );
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    assert_eq!(sarif["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn what_differs_from_itself_is_flagged_with_the_reason() {
    let place = Place::new(Jdk::newest().unwrap());
    let classes = place.compiled("gate/Drifts", None, "drifts");
    for (which, reason) in [
        ("clock", "called from Drifts.clock(), which reads the clock"),
        (
            "random",
            "called from Drifts.random(), which takes random numbers",
        ),
        (
            "order",
            "called from Drifts.order(), which iterates over a set, whose order may differ from run to run",
        ),
        (
            "far",
            "perhaps because of Drifts.drawn(), which takes random numbers",
        ),
    ] {
        let file = format!("{which}.gate");
        let text = place.recorded(&file, &["--runs", "3"], &place.java(&classes, &["Drifts", which]));
        let test = columns(&text, "test");
        let unstable = test
            .get(5)
            .unwrap_or_else(|| panic!("{which} is not unstable: {text}"));
        assert!(unstable.starts_with("differs from itself by "), "{unstable}");
        assert!(
            unstable.contains("most (") && unstable.contains("in Drifts.spin(int)"),
            "{unstable}"
        );
        assert!(unstable.contains(reason), "{unstable}");
        // Compared with the range of its own runs, so it does not fail against itself.
        let (said, code) = place.compare(&file, &file, &["--fail-on", "0"]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("differs from itself"), "{said}");
        assert!(!place.json(&file, &file)["tests"][0]["unstable"].is_null());
    }
}

#[test]
fn calls_of_what_is_not_counted_are_counted() {
    let place = Place::new(Jdk::oldest().unwrap());
    let before = place.compiled("gate/Calls", None, "before");
    let after = place.compiled("gate/Calls", Some(("i % 2 == 0", "i % 2 >= 0")), "after");
    let base = place.recorded("base.gate", &["--runs", "1"], &place.java(&before, &["Calls"]));
    place.recorded("new.gate", &["--runs", "1"], &place.java(&after, &["Calls"]));
    // The Square, the StringBuilder.
    assert_eq!(columns(&base, "new"), ["new", "2"]);
    // append() 50 times, length() twice, println(), and the constructors of StringBuilder and Object; area()
    // and toString() are names that a counted class has.
    assert_eq!(columns(&base, "out"), ["out", "55", "101"]);
    let (text, _) = place.compare("base.gate", "new.gate", &[]);
    assert!(text.contains("More calls of code that is not counted"), "{text}");
    let said = "55 → 105 calls, most of the additional ones in Calls.main(String[])";
    assert!(text.contains(said), "{text}");
    let (markdown, _) = place.compare("base.gate", "new.gate", &["--format", "markdown"]);
    assert!(markdown.contains("- Calls: 55 → 105 calls"), "{markdown}");
    let test = &place.json("base.gate", "new.gate")["tests"][0];
    assert_eq!(test["outside_calls"], serde_json::json!([55, 105]));
    assert_eq!(test["outside_perhaps"], serde_json::json!([101, 101]));
    // Fewer of them are no news.
    let (text, _) = place.compare("new.gate", "base.gate", &[]);
    assert!(!text.contains("More calls"), "{text}");
}

#[test]
fn allocations_that_grow_are_listed() {
    let place = Place::new(Jdk::oldest().unwrap());
    let more = ("new Square();", "new Square[][] {{new Square()}, {}}[0][0];");
    let before = place.compiled("gate/Calls", None, "before");
    let after = place.compiled("gate/Calls", Some(more), "after");
    place.recorded("base.gate", &["--runs", "1"], &place.java(&before, &["Calls"]));
    place.recorded("new.gate", &["--runs", "1"], &place.java(&after, &["Calls"]));
    let (text, code) = place.compare("base.gate", "new.gate", &["--fail-on", "50%"]);
    assert!(
        text.contains("More objects and arrays made by counted code"),
        "{text}"
    );
    assert!(text.contains("2 → 5 allocations"), "{text}");
    assert_eq!(code, Some(0), "{text}");
    let (markdown, _) = place.compare("base.gate", "new.gate", &["--format", "markdown"]);
    assert!(markdown.contains("- Calls: 2 → 5 allocations"), "{markdown}");
    let test = &place.json("base.gate", "new.gate")["tests"][0];
    assert_eq!(test["allocations"], serde_json::json!([2, 5]));
    let (text, _) = place.compare("new.gate", "base.gate", &[]);
    assert!(!text.contains("More objects"), "{text}");
}

#[test]
fn times_are_beside_if_asked_for() {
    let place = Place::new(Jdk::oldest().unwrap());
    let before = place.compiled("gate/Orders", None, "before");
    let after = place.compiled("gate/Orders", Some(("quantity > 40", "quantity > 10")), "after");
    let base = place.recorded("base.gate", &["--time"], &place.java(&before, &["Orders"]));
    place.recorded("new.gate", &["--time"], &place.java(&after, &["Orders"]));
    let [least, most] = [1, 2].map(|column| columns(&base, "time")[column].parse::<u64>().unwrap());
    assert!(0 < least && least <= most, "{base}");
    let range = &place.json("base.gate", "new.gate")["tests"][0]["time_ns"][0];
    assert_eq!(range, &serde_json::json!([least * 1000, most * 1000]));
    for format in ["text", "markdown"] {
        let (text, _) = place.compare("base.gate", "new.gate", &["--format", format]);
        assert!(
            text.contains("time: ") && text.contains(", with probes"),
            "{text}"
        );
    }
    let (junit, _) = place.compare("base.gate", "new.gate", &["--format", "junit"]);
    assert!(junit.contains(" time=\"0."), "{junit}");
    // Nothing but numbers that are known: not asked for, not there.
    let plain = place.recorded("plain.gate", &["--runs", "1"], &place.java(&before, &["Orders"]));
    assert!(!plain.contains("\ntime\t"), "{plain}");
    let times = &place.json("plain.gate", "plain.gate")["tests"][0]["time_ns"];
    assert_eq!(times, &serde_json::json!([null, null]));
}

#[test]
fn jvms_of_one_command_are_tests_of_their_own() {
    let place = Place::new(Jdk::newest().unwrap());
    let orders = place.compiled("gate/Orders", None, "orders");
    let ends = place.compiled("gate/Ends", None, "ends");
    let script = [place.java(&orders, &["Orders"]), place.java(&ends, &["Ends"])];
    let script = script.map(|words| words.join(" ")).join(" && ");
    let command = ["sh", "-c", &script].map(str::to_owned);
    let text = place.recorded("both.gate", &[], &command);
    let names: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("test\t"))
        .map(|line| line.split('\t').nth(4).unwrap())
        .collect();
    assert_eq!(names, ["Ends", "Orders"]);
}

#[test]
fn no_file_comes_of_a_command_that_fails() {
    let place = Place::new(Jdk::newest().unwrap());
    let classes = place.compiled("targets/Cuts", None, "cuts");
    let run = place.record("cuts.gate", &[], &place.java(&classes, &["Cuts"]));
    assert_eq!(run.status.code(), Some(1));
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.contains("the command failed with exit code 3"), "{said}");
    assert!(!place.path("cuts.gate").exists());
    let run = place.record("none.gate", &[], &["true".to_owned()]);
    assert_eq!(run.status.code(), Some(1));
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.contains("no JVM was counted"), "{said}");
}

#[test]
fn files_that_are_none_are_refused() {
    let place = Place::new(Jdk::newest().unwrap());
    let classes = place.compiled("gate/Orders", None, "orders");
    let good = place.recorded("good.gate", &["--runs", "1"], &place.java(&classes, &["Orders"]));
    let damaged = [
        String::new(),
        "hello".to_owned(),
        good.replace("trodden-gate\t1", "trodden-gate\t2"),
        good.replace("test\t", "test\tx"),
        good.replace("method\t", "methods\t"),
        format!("{good}path\t1\txyz\n"),
        format!("{good}test\t1\t1\t-\tOrders\n"),
    ];
    for (number, text) in damaged.into_iter().enumerate() {
        std::fs::write(place.path("bad.gate"), &text).unwrap();
        let (said, code) = place.compare("good.gate", "bad.gate", &[]);
        assert_eq!((said.as_str(), code), ("", Some(1)), "damage {number}");
    }
}

/// The additional work of the threads of `gate/Threads`, in each place.
const MORE_WORK: [&str; 4] = [
    "{1_010, 1_000, 1_000, 1_000}",
    "{1_000, 1_010, 1_000, 1_000}",
    "{1_000, 1_000, 1_010, 1_000}",
    "{1_000, 1_000, 1_000, 1_010}",
];

#[test]
fn work_of_threads_that_outlive_a_test_makes_none_fail() {
    let names = ["alone", "waits", "leaves behind", "asks a server"];
    for jdk in Jdk::ends().unwrap() {
        let place = Place::new(jdk);
        let before = place.compiled("gate/Threads", None, "before");
        let base = place.recorded("base.gate", &[], &place.java(&before, &["Threads"]));
        for (changed, work) in MORE_WORK.into_iter().enumerate() {
            let change = Some(("{1_000, 1_000, 1_000, 1_000}", work));
            let after = place.compiled("gate/Threads", change, &format!("after-{changed}"));
            place.recorded("new.gate", &["--runs", "1"], &place.java(&after, &["Threads"]));
            let json = place.json("base.gate", "new.gate");
            let what = format!("{} on JDK {}: {json:#}", names[changed], place.jdk.feature);
            let tests = json["tests"].as_array().unwrap();
            let verdict = |name: &str| {
                let test = tests.iter().find(|test| test["name"] == name).unwrap();
                (
                    test["verdict"].as_str().unwrap(),
                    test["by_others"].as_bool().unwrap(),
                )
            };
            for (number, name) in names.into_iter().enumerate() {
                let (said, by_others) = verdict(name);
                // Work that no other thread can have done fails; its own thread's, and that of one which has
                // ended.
                if number != changed {
                    // The server goes round its loop when it has answered: in this test, or the next one.
                    assert!(
                        said == "same" || (said, by_others) == ("unsure", true),
                        "{name}, {what}"
                    )
                } else if number < 2 {
                    assert_eq!(said, "broken", "{name}, {what}")
                } else {
                    assert_eq!((said, by_others), ("unsure", true), "{name}, {what}")
                }
            }
            assert_eq!(json["failed"], changed < 2, "{what}");
            if changed == 3 {
                let (text, code) = place.compare("base.gate", "new.gate", &["--fail-on", "0.5%"]);
                assert_eq!(code, Some(0), "{text}");
                assert!(
                    text.contains("asks a server")
                        && text.contains("but only in threads that may have worked for other tests"),
                    "{text}"
                );
                assert!(text.contains("grew: Threads.spin(int)"), "{text}");
            }
        }
        // All of their work is counted, whichever thread did it.
        let sum = |name: &str| {
            let mut tests = base.lines().map(|line| line.split('\t').collect::<Vec<_>>());
            let columns = tests.find(|columns| columns[0] == "test" && columns[4] == name);
            columns.unwrap()[1].parse::<u64>().unwrap()
        };
        assert!(
            sum("asks a server") > sum("alone") && sum("leaves behind") > sum("alone"),
            "{base}"
        );
    }
}
