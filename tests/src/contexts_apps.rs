//! Calling contexts of kernels and applications: exact ones, compared with the oracle of
//! [`contexts`](crate::contexts).
//!
//! The oracle takes microseconds per call, so programs get little to do: kernels are compiled with smaller
//! numbers, applications get small inputs. What is compared is each context's number of calls.
//!
//! In two runs of the same program, one under the oracle and one under the agent, call sites are bytecode
//! indices, but the runs must not depend on time: one thread, identity hashes in sequence. Both in one JVM
//! see the very same calls, whatever the program does; call sites are source lines then, since the agent
//! moves the code.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use trodden_profile::{MethodMap, Profile};

use crate::contexts::{Frame, Reportable, Sites, oracle_flag};
use crate::jdk::Jdk;
use crate::process::{self, Outcome};
use crate::profile::agent_flag;
use crate::{Result, build};

const LIMIT: Duration = Duration::from_secs(1800);

/// A program with smaller numbers: its name, its source file, what is replaced there.
type Small = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const JACKSON: &[Small] = &[(
    "jackson",
    "JacksonDriver",
    &[("ORDERS = 4000", "ORDERS = 40"), ("ROUNDS = 40", "ROUNDS = 2")],
)];

const KERNELS: &[Small] = &[
    (
        "fft",
        "Fft",
        &[("1 << 15", "1 << 8"), ("ROUNDS = 40", "ROUNDS = 2")],
    ),
    ("heapsort", "HeapSort", &[("1_000_000", "20_000")]),
    (
        "moldyn",
        "MolecularDynamics",
        &[("SIDE = 10", "SIDE = 4"), ("STEPS = 60", "STEPS = 4")],
    ),
    ("raytracer", "RayTracer", &[("800", "40"), ("600", "30")]),
    (
        "lexergen",
        "LexerGenerator",
        &[("400_000", "4_000"), ("ROUNDS = 12", "ROUNDS = 1")],
    ),
    ("compress", "Lzw", &[("4_000_000", "40_000")]),
    (
        "db",
        "Database",
        &[("12_000", "600"), ("60_000", "2_000"), ("10_000", "500")],
    ),
    (
        "mandelbrot",
        "Mandelbrot",
        &[("SIZE = 401", "SIZE = 41"), ("1200", "100")],
    ),
    ("sieve", "Sieve", &[("20_000_000", "20_000")]),
    ("matmul", "MatrixMultiply", &[("SIZE = 840", "SIZE = 40")]),
    ("montecarlo", "MonteCarlo", &[("200_000", "1_000")]),
    (
        "convolution",
        "MaskedConvolution",
        &[
            ("ROWS = 1200", "ROWS = 60"),
            ("COLUMNS = 1600", "COLUMNS = 80"),
            ("60 + random.nextInt(60)", "6 + random.nextInt(6)"),
            ("ROUNDS = 20", "ROUNDS = 1"),
        ],
    ),
    (
        "tasktags",
        "TaskTagScanner",
        &[("600_000", "6_000"), ("ROUNDS = 100", "ROUNDS = 3")],
    ),
    ("nestedreturn", "NestedReturn", &[("150_000", "3_000")]),
    (
        "recursion",
        "Recursion",
        &[
            ("fibonacci(36)", "fibonacci(16)"),
            ("takeuchi(18, 12, 6)", "takeuchi(10, 6, 3)"),
            ("<< 13", "<< 7"),
        ],
    ),
    (
        "dispatch",
        "VirtualDispatch",
        &[
            ("TREES = 40", "TREES = 4"),
            ("DEPTH = 12", "DEPTH = 7"),
            ("INPUTS = 60", "INPUTS = 6"),
        ],
    ),
];

/// A program to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Classes that are profiled, as the agent's option has it (one pattern, with `*` at its end).
    include: String,
    /// Behind the JVM's flags.
    arguments: Vec<String>,
}

impl Program {
    /// Kernels, from their sources.
    ///
    /// # Errors
    /// If they cannot be compiled.
    pub fn kernels(jdk: &Jdk, sources: &Path) -> Result<Vec<Program>> {
        let package = sources.join("trodden/kernels");
        let mut files: Vec<PathBuf> = std::fs::read_dir(&package)
            .map_err(|e| format!("{}: {e}", package.display()))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        files.sort();
        let classes = small("small-kernels", jdk, ".", &files, KERNELS)?;
        let program = |(name, ..): &Small| Program {
            name: (*name).to_owned(),
            include: "trodden.kernels.*".to_owned(),
            arguments: [
                "-cp",
                &classes.display().to_string(),
                "trodden.kernels.Main",
                "--warmup",
                "0",
                "--iterations",
                "1",
                name,
            ]
            .map(str::to_owned)
            .into(),
        };
        Ok(KERNELS.iter().map(program).collect())
    }

    /// Applications whose jars are in subfolders of `apps` (`trodden-bench fetch`), Jackson's with the
    /// benchmarks' driver in the folder `drivers`; and javac. `folder` takes their inputs.
    ///
    /// # Errors
    /// If inputs cannot be written, jars are not there, or the driver cannot be compiled.
    pub fn applications(jdk: &Jdk, apps: &Path, drivers: &Path, folder: &Path) -> Result<Vec<Program>> {
        let at = |name: &str| folder.join(name).display().to_string();
        let source = Path::new(build::ROOT)
            .join("stress/OddEven.java")
            .display()
            .to_string();
        let rows: String = (0..30)
            .map(|n| {
                format!(
                    "<row id='{n}'><name>n{}</name><sum>{}</sum></row>",
                    n * 7 % 10,
                    n * n
                )
            })
            .collect();
        std::fs::write(at("in.xml"), format!("<table>{rows}</table>"))?;
        std::fs::write(at("by.xsl"), STYLE)?;
        std::fs::write(at("small.py"), SCRIPT)?;
        let program = |name: &str, include: &str, main: &str, arguments: &[&str]| -> Result<Program> {
            let class_path = jars(&apps.join(name))?;
            let line = ["-cp", &class_path, main]
                .into_iter()
                .chain(arguments.iter().copied());
            Ok(Program {
                name: name.to_owned(),
                include: include.to_owned(),
                arguments: line.map(str::to_owned).collect(),
            })
        };
        let javac = [
            "--add-modules",
            "jdk.compiler",
            "-m",
            "jdk.compiler/com.sun.tools.javac.Main",
            "-proc:none",
            "-d",
            &at("out"),
            &source,
        ];
        let jackson = jars(&apps.join("jackson"))?;
        let driver = ["Driver.java", "JacksonDriver.java"].map(|file| drivers.join(file));
        let driver = small("small-jackson", jdk, &jackson, &driver, JACKSON)?;
        let jackson_line = [
            "-cp",
            &format!("{jackson}:{}", driver.display()),
            "trodden.drivers.JacksonDriver",
            "--warmup",
            "0",
            "--iterations",
            "1",
        ];
        Ok(vec![
            Program {
                name: "jackson".to_owned(),
                include: "com.fasterxml.*".to_owned(),
                arguments: jackson_line.map(str::to_owned).into(),
            },
            program(
                "ecj",
                "org.eclipse.jdt.*",
                "org.eclipse.jdt.internal.compiler.batch.Main",
                &["-17", "-d", "none", &source],
            )?,
            program(
                "xalan",
                "org.apache.*",
                "org.apache.xalan.xslt.Process",
                &[
                    "-IN",
                    &at("in.xml"),
                    "-XSL",
                    &at("by.xsl"),
                    "-OUT",
                    &at("out.html"),
                ],
            )?,
            program(
                "jython",
                "org.python.*",
                "org.python.util.jython",
                &["-S", &at("small.py")],
            )?,
            Program {
                name: "javac".to_owned(),
                include: "com.sun.tools.javac.*".to_owned(),
                arguments: javac.map(str::to_owned).into(),
            },
        ])
    }

    fn run(&self, jdk: &Jdk, flags: &[String]) -> Result<Outcome> {
        let mut java = jdk.command("java");
        java.args([
            "-Xmx1g",
            "-XX:+UseSerialGC",
            "-XX:+UnlockExperimentalVMOptions",
            "-XX:hashCode=3",
        ]);
        java.args(flags).args(&self.arguments);
        process::run(&mut java, LIMIT)
    }

    /// Runs the program twice, under the oracle and under the agent, and compares.
    ///
    /// # Errors
    /// If one of them fails, or they differ in what the program prints (times left out).
    pub fn compare(&self, jdk: &Jdk) -> Result<Comparison> {
        let folder = tempfile::tempdir()?;
        let (log, file) = (folder.path().join("log"), folder.path().join("live.trodden"));
        let one = self.run(jdk, &[self.oracle(jdk, &log, Sites::Bytecode)?])?;
        self.check(&one)?;
        let other = self.run(jdk, &[self.agent(&file)?])?;
        let comparison = compare(&log, &file, Sites::Bytecode);
        let comparison = comparison.map_err(|e| format!("{e}\n{one:#?}\n{other:#?}"))?;
        let (said, said_now) = (without_times(&one.stdout), without_times(&other.stdout));
        if said != said_now || one.status != other.status {
            return Err(format!("under the oracle:\n{one:#?}\nunder the agent:\n{other:#?}").into());
        }
        Ok(comparison)
    }

    /// Runs the program once, under both.
    ///
    /// # Errors
    /// If that fails.
    pub fn compare_together(&self, jdk: &Jdk) -> Result<Comparison> {
        let folder = tempfile::tempdir()?;
        let (log, file) = (folder.path().join("log"), folder.path().join("live.trodden"));
        // The agent first: classes that are there already are rewritten before the oracle learns their lines.
        let run = self.run(jdk, &[self.agent(&file)?, self.oracle(jdk, &log, Sites::Lines)?])?;
        self.check(&run)?;
        compare(&log, &file, Sites::Lines).map_err(|e| format!("{e}\n{run:#?}").into())
    }

    fn agent(&self, file: &Path) -> Result<String> {
        agent_flag("events,profile=contexts,algorithm=exact", &self.include, file)
    }

    fn oracle(&self, jdk: &Jdk, log: &Path, sites: Sites) -> Result<String> {
        let prefix = format!("L{}", self.include.trim_end_matches('*').replace('.', "/"));
        oracle_flag(jdk, log, &prefix, sites)
    }

    /// With smaller numbers, some kernels miss the checksum that they know; but they print theirs.
    fn check(&self, run: &Outcome) -> Result<()> {
        if run.status.success() || run.stdout.starts_with(&format!("{} ", self.name)) {
            return Ok(());
        }
        Err(format!("it failed: {run:#?}").into())
    }
}

/// Compares the log of the oracle with the agent's profile.
fn compare(log: &Path, file: &Path, sites: Sites) -> Result<Comparison> {
    let profile = Profile::load(file)?;
    let expected = Tree::of_oracle(log, &Reportable::new(&profile))?;
    let left_alone = profile.left_alone().count();
    Ok(Comparison {
        left_alone,
        without_call_sites: profile.skipped.len() - left_alone,
        ..expected.compare(&Tree::of_profile(&profile, sites)?)
    })
}

const STYLE: &str = r#"<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:key name="named" match="row" use="name"/>
<xsl:template match="/table"><html><xsl:for-each select="row"><xsl:sort select="name"/><xsl:sort select="sum" data-type="number" order="descending"/>
<p><xsl:value-of select="concat(@id, ': ', name)"/><xsl:if test="sum &gt; 100"><b><xsl:value-of select="format-number(sum div 7, '#.00')"/></b></xsl:if>
<xsl:value-of select="count(key('named', name))"/></p></xsl:for-each><xsl:apply-templates select="row[position() mod 3 = 0]"/></html></xsl:template>
<xsl:template match="row"><i><xsl:call-template name="count"><xsl:with-param name="n" select="@id"/></xsl:call-template></i></xsl:template>
<xsl:template name="count"><xsl:param name="n"/><xsl:if test="$n &gt; 0">.<xsl:call-template name="count"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template></xsl:if></xsl:template>
</xsl:stylesheet>"#;

const SCRIPT: &str = "
def queens(n, row, columns, left, right):
    if row == n:
        return 1
    return sum(queens(n, row + 1, columns + [c], left + [row + c], right + [row - c])
               for c in range(n) if c not in columns and row + c not in left and row - c not in right)

class Shape(object):
    def __init__(self, size):
        self.size = size
    def area(self):
        if self.size > 7:
            raise ValueError(self.size)
        return self.size * self.size

total = 0
for i in range(10):
    try:
        total += Shape(i).area()
    except ValueError as e:
        total -= e.args[0]
print(queens(5, 0, [], [], []), total, sorted([3, 1, 2], key=lambda x: -x))
";

/// Compiles programs with smaller numbers.
fn small(name: &str, jdk: &Jdk, class_path: &str, files: &[PathBuf], programs: &[Small]) -> Result<PathBuf> {
    let words = format!("{} {programs:?}", jdk.feature);
    build::cached(name, files, &[&words], |out| {
        let small = tempfile::tempdir()?;
        let mut copies = Vec::new();
        for file in files {
            let mut text = std::fs::read_to_string(file)?;
            let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            for (_, of, changes) in programs {
                for (from, to) in changes.iter().filter(|_| stem.as_deref() == Some(of)) {
                    if !text.contains(from) {
                        return Err(
                            format!("{}: there is no '{from}' to make smaller", file.display()).into(),
                        );
                    }
                    text = text.replacen(from, to, 1);
                }
            }
            let copy = small
                .path()
                .join(file.file_name().ok_or("a file without a name")?);
            std::fs::write(&copy, text)?;
            copies.push(copy);
        }
        build::javac(jdk, class_path, &copies, out)
    })
}

/// All jars of a folder, as a class path.
fn jars(folder: &Path) -> Result<String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut jars: Vec<String> = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "jar") {
            jars.push(path.display().to_string());
        }
    }
    jars.sort();
    if jars.is_empty() {
        Err(format!("no jars in {}", folder.display()).into())
    } else {
        Ok(jars.join(":"))
    }
}

/// A kernel's line has elapsed and CPU time as its third and fourth word.
fn without_times(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map(|line| {
            let words = line.split(' ').enumerate();
            words
                .filter(|(at, _)| ![2, 3].contains(at))
                .map(|(_, word)| word)
                .collect()
        })
        .collect()
}

/// A context's own frame, its caller, and its count.
struct Context {
    caller: u64,
    frame: Frame,
    calls: u64,
}

/// Contexts by a hash of all their frames: too many for the frames of each to be held.
#[derive(Default)]
struct Tree(HashMap<u64, Context>);

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Contexts that were called, according to the oracle.
    pub contexts: usize,
    /// Calls, according to the oracle.
    pub calls: u64,
    /// Contexts whose numbers of calls differ.
    pub differing: usize,
    /// Sum of the differences.
    pub difference: u64,
    /// Methods and classes that the agent gave no probes, and listed.
    pub left_alone: usize,
    /// Methods whose calls it reported without call sites, and listed.
    pub without_call_sites: usize,
    /// The differences as text, the largest first.
    pub examples: Vec<String>,
}

const NOBODY: u64 = 0;

impl Tree {
    /// The context of a frame below another context.
    fn below(&mut self, caller: u64, frame: &Frame) -> u64 {
        let mut hasher = DefaultHasher::new();
        (caller, frame).hash(&mut hasher);
        let key = hasher.finish();
        self.0.entry(key).or_insert_with(|| Context {
            caller,
            frame: frame.clone(),
            calls: 0,
        });
        key
    }

    fn add(&mut self, context: u64, calls: u64) {
        if let Some(context) = self.0.get_mut(&context) {
            context.calls += calls;
        }
    }

    fn of_profile(profile: &Profile, sites: Sites) -> Result<Tree> {
        let contexts = profile.contexts.as_ref().ok_or("no contexts")?;
        let mut tree = Tree::default();
        let mut path: Vec<(u64, &MethodMap)> = Vec::new();
        for node in contexts.tree.nodes() {
            let class = &profile.classes[node.class as usize].map;
            let method = &class.methods[node.method as usize];
            path.truncate(node.depth as usize - 1);
            let caller = path.last().copied();
            let bci = node.site.map(u32::from);
            let site = match (sites, caller) {
                (Sites::Bytecode, _) => bci,
                (Sites::Lines, caller) => bci.zip(caller).and_then(|(bci, (_, caller))| caller.line(bci)),
            };
            let name = format!("{}.{}{}", class.name, method.name, method.descriptor);
            let context = tree.below(caller.map_or(NOBODY, |(context, _)| context), &(name, site));
            tree.add(context, node.estimate());
            path.push((context, method));
        }
        Ok(tree)
    }

    fn of_oracle(log: &Path, reportable: &Reportable) -> Result<Tree> {
        let mut tree = Tree::default();
        crate::contexts::each_of_oracle(log, |path, calls| {
            if let Some(path) = reportable.path(&path) {
                let context = path
                    .iter()
                    .fold(NOBODY, |caller, frame| tree.below(caller, frame));
                tree.add(context, calls);
            }
        })?;
        Ok(tree)
    }

    /// `self` is the truth.
    fn compare(&self, other: &Tree) -> Comparison {
        let calls = |tree: &Tree, key: &u64| tree.0.get(key).map_or(0, |context| context.calls);
        let mut differ: Vec<(u64, u64, u64)> = self
            .0
            .keys()
            .chain(other.0.keys().filter(|key| !self.0.contains_key(key)))
            .map(|key| (*key, calls(self, key), calls(other, key)))
            .filter(|(_, a, b)| a != b)
            .collect();
        differ.sort_unstable_by_key(|&(key, a, b)| (std::cmp::Reverse(a.abs_diff(b)), key));
        let example = |&(key, a, b): &(u64, u64, u64)| {
            let tree = if self.0.contains_key(&key) { self } else { other };
            let mut text = format!("expected {a}, found {b}:");
            let mut at = key;
            while let Some(context) = tree.0.get(&at) {
                text += &format!("\n      {} called at {:?}", context.frame.0, context.frame.1);
                at = context.caller;
            }
            text
        };
        Comparison {
            contexts: self.0.values().filter(|context| context.calls > 0).count(),
            calls: self.0.values().map(|context| context.calls).sum(),
            differing: differ.len(),
            difference: differ.iter().map(|&(_, a, b)| a.abs_diff(b)).sum(),
            left_alone: 0,
            without_call_sites: 0,
            examples: differ.iter().map(example).collect(),
        }
    }
}
