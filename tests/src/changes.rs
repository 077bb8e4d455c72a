//! Pairs of runs for `trodden diff`: programs without a change, which it must be quiet about, and with one
//! that it must name.
//!
//! The programs are in `tests/diff/pairs`. Each runs for a given amount of work (`work N`) or time (`time
//! SECONDS`).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::jdk::Jdk;
use crate::{Result, artefacts, build, process};

/// The difference of a run.
#[derive(Clone, Copy, Debug)]
pub enum Difference {
    /// Nothing.
    None,
    /// It ends by the clock, after as many seconds before and after.
    Seconds(u32, u32),
    /// It does twice as much.
    Twice,
    /// Two other programs keep the processors busy.
    Load,
    /// The program's text: what is replaced by what. Behaviour stays.
    Edit(&'static [(&'static str, &'static str)]),
}

impl Difference {
    /// In a word or two.
    pub fn word(self) -> String {
        match self {
            Difference::None => "fixed work".to_owned(),
            Difference::Seconds(before, after) => format!("{before} s and {after} s"),
            Difference::Twice => "twice the work".to_owned(),
            Difference::Load => "another load".to_owned(),
            Difference::Edit(_) => "an unrelated edit".to_owned(),
        }
    }
}

/// A program, and how much work is enough for a profile.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its class and file.
    pub name: &'static str,
    /// The argument of `work`: some seconds of processor time.
    pub work: u32,
}

const SHOP: Program = Program {
    name: "Shop",
    work: 12_000,
};
const LOGS: Program = Program {
    name: "Logs",
    work: 8_000,
};
const CALC: Program = Program {
    name: "Calc",
    work: 160_000,
};
const SEARCH: Program = Program {
    name: "Search",
    work: 3_000,
};
const GRID: Program = Program {
    name: "Grid",
    work: 9_000,
};

/// Pairs without a change.
pub const SAME: [(Program, Difference); 20] = [
    (SHOP, Difference::None),
    (LOGS, Difference::None),
    (CALC, Difference::None),
    (SEARCH, Difference::None),
    (GRID, Difference::None),
    (SHOP, Difference::Seconds(2, 4)),
    (LOGS, Difference::Seconds(3, 3)),
    (CALC, Difference::Seconds(3, 3)),
    (SEARCH, Difference::Seconds(3, 2)),
    (GRID, Difference::Seconds(2, 4)),
    (SHOP, Difference::Twice),
    (LOGS, Difference::Twice),
    (CALC, Difference::Twice),
    (SEARCH, Difference::Twice),
    (GRID, Difference::Twice),
    (SHOP, Difference::Load),
    (CALC, Difference::Load),
    (
        SHOP,
        Difference::Edit(&[
            (
                "    long serve(int requests) {",
                "    public String toString() {\n        return cache.isEmpty() ? \"new\" : \"open\";\n    }\n\n    long serve(int requests) {",
            ),
            ("shop did nothing", "the shop did nothing"),
        ]),
    ),
    (
        LOGS,
        Difference::Edit(&[
            (
                "private int broken;",
                "private int broken;\n    private String name = \"logs\";",
            ),
            (
                "String[] fields(String line) {",
                "String[] columns(String line) {",
            ),
            ("fields(line())", "columns(line())"),
        ]),
    ),
    (
        CALC,
        Difference::Edit(&[(
            "    Node parse(String formula) {",
            "    Runnable printer() {\n        return () -> System.out.println(at > 0 ? text : \"\");\n    }\n\n    Node parse(String formula) {",
        )]),
    ),
];

/// A planted change.
#[derive(Clone, Copy, Debug)]
pub struct Planted {
    /// The kind of change.
    pub what: &'static str,
    /// To which program.
    pub program: Program,
    /// Replacements in its text: the old one, the new one.
    pub edits: &'static [(&'static str, &'static str)],
    /// The method that was changed, or the one whose branch the change turns.
    pub methods: &'static [&'static str],
}

impl Planted {
    /// Returns true if it is among the first two of these methods.
    pub fn is_named(&self, found: &[String]) -> bool {
        let is_of =
            |method: &str, name: &str| name == method || name.starts_with(&format!("lambda${method}$"));
        let named = |name: &String| self.methods.iter().any(|method| is_of(method, name));
        found.iter().take(2).any(named)
    }
}

/// Changes that must be named.
pub const CHANGED: [Planted; 12] = [
    Planted {
        what: "a branch's share: a quarter of the requests are gifts, not a fiftieth",
        program: SHOP,
        edits: &[("next(50) == 0 ?", "next(4) == 0 ?")],
        methods: &["line", "price"],
    },
    Planted {
        what: "a new slow path for short numbers",
        program: SHOP,
        edits: &[(
            "        int number = 0;\n        for (int i = 0; i < text.length()",
            "        int number = 0;\n        if (text.length() < 2) {\n            text = String.format(\"%2s\", text).trim();\n        }\n        for (int i = 0; i < text.length()",
        )],
        methods: &["number"],
    },
    Planted {
        what: "a cache's key holds the customer",
        program: SHOP,
        edits: &[(
            "\"product-\" + request.product;",
            "\"product-\" + request.product + request.customer;",
        )],
        methods: &["lookup"],
    },
    Planted {
        what: "another algorithm: a scan in place of a binary search",
        program: CALC,
        edits: &[(
            "        int low = 0;\n        int high = names.length - 1;",
            "        for (int i = names.length - 1; i >= 0; i--) {\n            if (names[i].equals(name)) {\n                return values[i];\n            }\n        }\n        int low = 0;\n        int high = names.length - 1;",
        )],
        methods: &["variable"],
    },
    Planted {
        what: "another constant: eight passes, not three",
        program: GRID,
        edits: &[("pass < 3", "pass < 8")],
        methods: &["main"],
    },
    Planted {
        what: "an extra call: the lines are sorted twice",
        program: LOGS,
        edits: &[(
            "        sort(kept);\n",
            "        sort(kept);\n        sort(kept);\n",
        )],
        methods: &["file", "sort"],
    },
    Planted {
        what: "a lock in an inner loop",
        program: SEARCH,
        edits: &[(
            "            scores[document] += weight;",
            "            synchronized (index) {\n                scores[document] += weight;\n            }",
        )],
        methods: &["score"],
    },
    Planted {
        what: "a sum that is boxed",
        program: SHOP,
        edits: &[
            (
                "        long sum = 0;\n        for (int i = 0; i < request.amount",
                "        Long sum = 0L;\n        for (int i = 0; i < request.amount",
            ),
            ("long price(Product", "Long price(Product"),
        ],
        methods: &["price"],
    },
    Planted {
        what: "a list in place of a set",
        program: LOGS,
        edits: &[(
            "Set<String> blocked = new HashSet<>()",
            "List<String> blocked = new ArrayList<>()",
        )],
        methods: &["file"],
    },
    Planted {
        what: "a text that is copied with each piece",
        program: LOGS,
        edits: &[
            (
                "        StringBuilder text = new StringBuilder();\n        for (Map",
                "        String text = \"\";\n        for (Map",
            ),
            (
                "text.append(agent.getKey()).append(' ').append(counts[0]).append(' ').append(counts[1]).append('\\n');",
                "text += agent.getKey() + ' ' + counts[0] + ' ' + counts[1] + '\\n';",
            ),
            (
                "        return text.toString();\n    }\n}",
                "        return text;\n    }\n}",
            ),
        ],
        methods: &["summary"],
    },
    Planted {
        what: "an exception as control flow",
        program: LOGS,
        edits: &[(
            "        int status = Integer.parseInt(text);\n        return status < 400 ? 0 : 1;",
            "        try {\n            return Integer.parseInt(text.replace(\"200\", \"ok\")) < 400 ? 0 : 1;\n        } catch (NumberFormatException e) {\n            return 0;\n        }",
        )],
        methods: &["status"],
    },
    Planted {
        what: "a pattern that is compiled with each call",
        program: SEARCH,
        edits: &[(
            "hit -> hit.score() > 1",
            "hit -> String.valueOf(hit.score()).matches(\"[1-9][0-9]*\")",
        )],
        methods: &["page"],
    },
];

/// Compiles and records pairs in a folder.
pub struct Recorder<'j> {
    jdk: &'j Jdk,
    folder: PathBuf,
    /// True if the machine is kept busy all the time.
    busy: bool,
    classes: HashMap<String, PathBuf>,
}

/// Programs that keep the processors busy until this is dropped.
struct Busy(Vec<Child>);

impl Busy {
    fn new() -> Result<Self> {
        let spin = || {
            Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .stdin(Stdio::null())
                .spawn()
        };
        Ok(Busy((0..2).map(|_| spin()).collect::<std::io::Result<_>>()?))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have been killed by someone else.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl<'j> Recorder<'j> {
    /// For a JDK; `busy`: with other load on the machine all the time.
    pub fn new(jdk: &'j Jdk, folder: &Path, busy: bool) -> Self {
        Recorder {
            jdk,
            folder: folder.to_owned(),
            busy,
            classes: HashMap::new(),
        }
    }

    /// The program's classes with a changed text.
    fn compile(&mut self, name: &str, edits: &[(&str, &str)]) -> Result<PathBuf> {
        let key = format!("{name}{edits:?}");
        if let Some(known) = self.classes.get(&key) {
            return Ok(known.clone());
        }
        let file = Path::new(build::ROOT)
            .join("diff/pairs")
            .join(format!("{name}.java"));
        let mut text = fs::read_to_string(file)?;
        for (old, new) in edits {
            if text.matches(old).count() != 1 {
                return Err(format!("{name}.java does not have once: {old}").into());
            }
            text = text.replace(old, new);
        }
        let folder = self.folder.join(format!("{name}-{}", self.classes.len()));
        let source = folder.join("pairs").join(format!("{name}.java"));
        fs::create_dir_all(folder.join("pairs"))?;
        fs::write(&source, text)?;
        let classes = folder.join("classes");
        let mut javac = self.jdk.command("javac");
        javac.args(["-g", "-d"]).arg(&classes).arg(&source);
        process::run(&mut javac, Duration::from_secs(60))?.success()?;
        self.classes.insert(key, classes.clone());
        Ok(classes)
    }

    /// A run's profile, recorded as a user would.
    fn record(
        &self,
        name: &str,
        classes: &Path,
        arguments: [&str; 2],
        file: &str,
        busy: bool,
    ) -> Result<PathBuf> {
        let profile = self.folder.join(format!("{file}-{}.trodden", self.jdk.feature));
        let load = if busy || self.busy {
            Some(Busy::new()?)
        } else {
            None
        };
        let mut run = Command::new(&artefacts::artefacts()?.cli);
        run.args(["run", "--repeat", "1", "-o"])
            .arg(profile.with_extension("%n.trodden"))
            .arg("--");
        run.arg(self.jdk.command("java").get_program())
            .arg("-cp")
            .arg(classes);
        run.arg(format!("pairs.{name}")).args(arguments);
        process::run(&mut run, Duration::from_secs(300))?.success()?;
        drop(load);
        Ok(profile.with_extension("1.trodden"))
    }

    /// Two runs that differ in that.
    ///
    /// # Errors
    /// If the program cannot be built or run.
    pub fn pair(&mut self, program: Program, label: &str, difference: Difference) -> Result<[PathBuf; 2]> {
        let name = program.name;
        let before = self.compile(name, &[])?;
        let work = program.work.to_string();
        let mut arguments = [["work".to_owned(), work.clone()], ["work".to_owned(), work]];
        let mut after = before.clone();
        let mut busy = false;
        match difference {
            Difference::None => {}
            Difference::Seconds(first, second) => {
                arguments = [first, second].map(|seconds| ["time".to_owned(), seconds.to_string()]);
            }
            Difference::Twice => arguments[1][1] = (program.work * 2).to_string(),
            Difference::Load => busy = true,
            Difference::Edit(edits) => after = self.compile(name, edits)?,
        }
        let [first, second] = &arguments;
        Ok([
            self.record(
                name,
                &before,
                [&first[0], &first[1]],
                &format!("{label}-before"),
                false,
            )?,
            self.record(
                name,
                &after,
                [&second[0], &second[1]],
                &format!("{label}-after"),
                busy,
            )?,
        ])
    }

    /// A run without and one with a planted change.
    ///
    /// # Errors
    /// If the program cannot be built or run.
    pub fn planted(&mut self, planted: Planted, label: &str) -> Result<[PathBuf; 2]> {
        self.pair(planted.program, label, Difference::Edit(planted.edits))
    }

    /// The findings of `trodden diff`, in its order: methods' names.
    ///
    /// # Errors
    /// If it fails.
    pub fn findings([before, after]: &[PathBuf; 2]) -> Result<(Vec<String>, String)> {
        let diff = |format: &str| {
            let mut diff = Command::new(&artefacts::artefacts()?.cli);
            diff.args(["diff", "--format", format]).args([before, after]);
            Ok::<_, crate::Error>(
                process::run(&mut diff, Duration::from_secs(60))?
                    .success()?
                    .stdout,
            )
        };
        let text = diff("text")?;
        // A finding begins with its number.
        let names = text.lines().filter_map(|line| {
            let (number, rest) = line.split_once(". ")?;
            number.parse::<u32>().ok()?;
            let method = rest.split('(').next()?;
            Some(method.rsplit('.').next()?.to_owned())
        });
        let names: Vec<String> = names.collect();
        let json: Value = serde_json::from_str(&diff("json")?)?;
        let in_json = |list: &Value| list.as_array().map_or(0, Vec::len);
        if names.is_empty() && in_json(&json["methods"]) + in_json(&json["time"]["methods"]) > 0 {
            return Err(format!("text and JSON disagree:\n{text}\n{json:#}").into());
        }
        Ok((names, text))
    }
}
