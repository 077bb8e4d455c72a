//! Calling contexts of `contexts/Calls.java`: live, from a trace, and as an oracle in C sees them that walks
//! the stack at each call.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use trodden_profile::{Profile, Skipped};

use crate::jdk::Jdk;
use crate::process::{self, Outcome};
use crate::profile::{SUSPICIOUS, agent_flag};
use crate::{Result, artefacts, build};

const PROGRAM: &str = "Calls";
/// Its classes that are profiled; others have no probes.
pub const INCLUDE: &str = "Calls*";
const LIMIT: Duration = Duration::from_secs(300);

/// In place of a bytecode index: a class loader is asked for the class that probes call.
const ASKED_BY_PROBES: i64 = -2;

/// A method and the bytecode index at which it was called.
pub type Frame = (String, Option<u32>);

/// How often each context was called; the outermost frame first.
pub type Counts = BTreeMap<Vec<Frame>, u64>;

/// A command that runs the program.
///
/// # Errors
/// If it cannot be compiled.
pub fn java(jdk: &Jdk, flags: &[String], arguments: &[&str]) -> Result<Command> {
    java_class(jdk, flags, PROGRAM, arguments)
}

/// A command that runs another class of the same folder.
///
/// # Errors
/// If it cannot be compiled.
pub fn java_class(jdk: &Jdk, flags: &[String], class: &str, arguments: &[&str]) -> Result<Command> {
    let files = [Path::new(build::ROOT).join("contexts/Calls.java")];
    let folder = build::classes(jdk, PROGRAM, &files)?;
    let mut java = jdk.command("java");
    java.args(["-Xmx512m", "-XX:+UseSerialGC"]).args(flags);
    if arguments.first() == Some(&"native") {
        let library = library(jdk, "contexts-native", "contexts/native.c")?;
        java.arg(format!("-Dnative={}", library.display()));
        if jdk.feature >= 22 {
            java.arg("--enable-native-access=ALL-UNNAMED");
        }
    }
    java.arg("-cp").arg(folder).arg(class).args(arguments);
    Ok(java)
}

/// Runs the program without an agent.
///
/// # Errors
/// If it cannot be run.
pub fn plain(jdk: &Jdk, arguments: &[&str]) -> Result<Outcome> {
    process::run(&mut java(jdk, &SUSPICIOUS.map(str::to_owned), arguments)?, LIMIT)
}

/// Runs the program under the agent, which writes to `file`.
///
/// # Errors
/// If it cannot be run.
pub fn under_agent(jdk: &Jdk, options: &str, arguments: &[&str], file: &Path) -> Result<Outcome> {
    let mut flags = SUSPICIOUS.map(str::to_owned).to_vec();
    flags.push(agent_flag(&format!("events,{options}"), INCLUDE, file)?);
    process::run(&mut java(jdk, &flags, arguments)?, LIMIT)
}

/// The same; the outcome and the profile.
///
/// # Errors
/// If it cannot be run, or there is no profile.
pub fn live(jdk: &Jdk, options: &str, arguments: &[&str]) -> Result<(Outcome, Profile)> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("live.trodden");
    let outcome = under_agent(jdk, options, arguments, &file)?;
    let profile = Profile::load(&file).map_err(|e| format!("{e}\n{outcome:#?}"))?;
    Ok((outcome, profile))
}

/// Runs `trodden` with these arguments; what it writes to standard output.
///
/// # Errors
/// If it fails.
pub fn trodden(arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    Ok(process::run(command.args(arguments), LIMIT)?.success()?.stdout)
}

/// The contexts of a profile that have calls.
///
/// # Errors
/// If it has none at all.
pub fn counts(profile: &Profile) -> Result<Counts> {
    let contexts = profile.contexts.as_ref().ok_or("no contexts")?;
    let mut counts = Counts::new();
    let mut path: Vec<Frame> = Vec::new();
    for node in contexts.tree.nodes() {
        let class = &profile.classes[node.class as usize].map;
        let method = &class.methods[node.method as usize];
        path.truncate(node.depth as usize - 1);
        path.push((
            format!("{}.{}{}", class.name, method.name, method.descriptor),
            node.site.map(u32::from),
        ));
        if node.estimate() > 0 {
            *counts.entry(path.clone()).or_default() += node.estimate();
        }
    }
    Ok(counts)
}

/// The oracle's library for a JDK.
fn oracle(jdk: &Jdk) -> Result<PathBuf> {
    library(jdk, "contexts-oracle", "contexts/contexts.c")
}

/// A library in C, compiled for a JDK.
fn library(jdk: &Jdk, name: &str, source: &str) -> Result<PathBuf> {
    let source = Path::new(build::ROOT).join(source);
    let include = jdk.home.join("include");
    let folder = build::cached(
        name,
        std::slice::from_ref(&source),
        &[&jdk.feature.to_string()],
        |out| {
            let mut cc = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
            cc.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"])
                .arg("-I")
                .arg(&include)
                .arg("-I")
                .arg(include.join(std::env::consts::OS));
            cc.arg("-o").arg(out.join("lib.so")).arg(&source);
            process::run(&mut cc, LIMIT)?.success()?;
            Ok(())
        },
    )?;
    Ok(folder.join("lib.so"))
}

/// The kind of call sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sites {
    /// Bytecode indices.
    Bytecode,
    /// Source lines, which stay what they are when code is rewritten.
    Lines,
}

/// The flag that loads the oracle, which writes to `log` about classes whose signatures begin with `prefix`.
///
/// # Errors
/// If it cannot be compiled.
pub fn oracle_flag(jdk: &Jdk, log: &Path, prefix: &str, sites: Sites) -> Result<String> {
    let lines = match sites {
        Sites::Bytecode => "",
        Sites::Lines => ",lines",
    };
    Ok(format!(
        "-agentpath:{}={},{prefix}{lines}",
        oracle(jdk)?.display(),
        log.display()
    ))
}

/// Hands on what the oracle wrote: contexts, the outermost frame first, and their calls.
///
/// # Errors
/// If it is not what the oracle writes.
pub fn each_of_oracle(log: &Path, mut each: impl FnMut(Vec<Frame>, u64)) -> Result<()> {
    let text = std::fs::read_to_string(log)?;
    let mut methods: HashMap<&str, String> = HashMap::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        match words.next() {
            Some("m") => {
                let mut word = || words.next().ok_or_else(|| format!("a short line: {line}"));
                let (id, class, name, descriptor) = (word()?, word()?, word()?, word()?);
                methods.insert(id, format!("{class}.{name}{descriptor}"));
            }
            Some("c") => {
                let calls: u64 = words.next().ok_or("a context without a count")?.parse()?;
                let mut path: Vec<Frame> = Vec::new();
                for word in words.rev() {
                    let (id, bci) = word.split_once(':').ok_or("no call site")?;
                    let name = methods.get(id).ok_or("a method without a name")?.clone();
                    let site = match bci.parse()? {
                        // Asked for by the first probe of an activation, which does not count before that.
                        ASKED_BY_PROBES => path.pop().and_then(|(_, site)| site),
                        bci => u32::try_from(bci).ok(),
                    };
                    // Initialisers are not called, the JVM runs them.
                    let site = site.filter(|_| !name.contains(".<clinit>"));
                    path.push((name, site));
                }
                each(path, calls);
            }
            _ => return Err(format!("not a line of the oracle: {line}").into()),
        }
    }
    Ok(())
}

/// The part of a program's contexts that the agent has to report, by what its profile says that it left out.
#[derive(Debug, Default)]
pub struct Reportable {
    /// Methods as the oracle names them, and classes.
    left_alone: HashSet<String>,
    /// Methods that report no call sites.
    without_call_sites: HashSet<String>,
}

impl Reportable {
    /// As this profile says.
    pub fn new(profile: &Profile) -> Self {
        let name = |skipped: &Skipped| match &skipped.method {
            Some(method) => format!("{}.{method}", skipped.class),
            None => skipped.class.clone(),
        };
        let (without, left): (Vec<_>, Vec<_>) = profile.skipped.iter().partition(|s| s.has_probes());
        Reportable {
            left_alone: left.into_iter().map(name).collect(),
            without_call_sites: without.into_iter().map(name).collect(),
        }
    }

    fn has(&self, method: &str) -> bool {
        let class = method.split('.').next().unwrap_or_default();
        !self.left_alone.contains(method) && !self.left_alone.contains(class)
    }

    /// The context to be reported; `None` if its own method is not. Methods that are left alone are
    /// code without probes: their callees count as called by their caller, from the same place.
    pub fn path(&self, path: &[Frame]) -> Option<Vec<Frame>> {
        let mut reported: Vec<Frame> = Vec::with_capacity(path.len());
        let mut passed = None;
        for (name, site) in path {
            let site: Option<u32> = passed.take().unwrap_or(*site);
            if !self.has(name) {
                passed = Some(site);
                continue;
            }
            // The JVM runs initialisers, wherever they are.
            let known = !name.contains(".<clinit>")
                && (reported.last()).is_none_or(|(caller, _)| !self.without_call_sites.contains(caller));
            reported.push((name.clone(), site.filter(|_| known)));
        }
        passed.is_none().then_some(reported)
    }

    /// The same of all of a run.
    pub fn counts(&self, all: &Counts) -> Counts {
        let mut counts = Counts::new();
        for (path, calls) in all {
            if let Some(path) = self.path(path) {
                *counts.entry(path).or_default() += calls;
            }
        }
        counts
    }
}

/// Facts that are 0 where nothing that bursts report was lost or misunderstood.
pub const BURST_IS_SOUND: [&str; 4] = [
    "contexts_orphans",
    "contexts_lost_exits",
    "contexts_bad_words",
    "bursts_too_deep",
];

/// All of these facts of a profile are 0.
///
/// # Errors
/// If one is not there.
///
/// # Panics
/// If one is not 0.
pub fn none(how: &str, profile: &Profile, facts: &[&str]) -> Result<()> {
    for name in facts {
        assert_eq!(crate::events::fact(profile, name)?, 0, "{how}: {name}");
    }
    Ok(())
}

/// Asserts that contexts counted by bursts are true ones, and more than a few of them.
///
/// # Panics
/// If not.
pub fn true_contexts(how: &str, known: &Counts, counted: &Counts) {
    let unknown: Vec<_> = counted.keys().filter(|path| !known.contains_key(*path)).collect();
    assert!(unknown.is_empty(), "{how}: {unknown:#?}");
    assert!(
        counted.len() > 10,
        "{how}: {} contexts of {}",
        counted.len(),
        known.len()
    );
}

/// Runs the program under the oracle: its outcome, and all contexts.
///
/// # Errors
/// If that fails.
pub fn expected(jdk: &Jdk, arguments: &[&str]) -> Result<(Outcome, Counts)> {
    under_oracle(jdk, |flag| java(jdk, flag, arguments))
}

/// The same of another program, whose classes begin alike.
///
/// # Errors
/// If that fails.
pub fn under_oracle(jdk: &Jdk, java: impl FnOnce(&[String]) -> Result<Command>) -> Result<(Outcome, Counts)> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("log");
    let flag = oracle_flag(jdk, &log, &format!("L{PROGRAM}"), Sites::Bytecode)?;
    let outcome = process::run(&mut java(&[flag])?, LIMIT)?;
    let mut counts = Counts::new();
    each_of_oracle(&log, |path, calls| *counts.entry(path).or_default() += calls)
        .map_err(|e| format!("{e}\n{outcome:#?}"))?;
    Ok((outcome, counts))
}

/// A text about the first contexts that differ; `None` if there is no difference.
pub fn difference(expected: &Counts, found: &Counts) -> Option<String> {
    let all = expected
        .keys()
        .chain(found.keys().filter(|key| !expected.contains_key(*key)));
    let differ = all.filter(|&key| expected.get(key) != found.get(key));
    let text = |key: &Vec<Frame>| {
        let frames: Vec<String> = key
            .iter()
            .map(|(name, site)| format!("  {name} called at {site:?}"))
            .collect();
        format!(
            "expected {:?}, found {:?}:\n{}",
            expected.get(key),
            found.get(key),
            frames.join("\n")
        )
    };
    let texts: Vec<String> = differ.take(4).map(text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The profile has these contexts, to the last call, and lost nothing.
///
/// # Errors
/// The first difference, or what is not whole.
pub fn check(how: &str, expected: &Counts, profile: &Profile) -> Result<()> {
    crate::events::whole(profile).map_err(|e| format!("{how}: {e}"))?;
    none(
        how,
        profile,
        &[
            "contexts_orphans",
            "contexts_lost_exits",
            "contexts_gaps",
            "contexts_bad_words",
            "contexts_unknown",
        ],
    )?;
    match difference(expected, &counts(profile)?) {
        None => Ok(()),
        Some(difference) => Err(format!("{how}: {difference}").into()),
    }
}

/// Contexts by the names of their methods.
///
/// # Errors
/// If it has none at all.
pub fn by_name(profile: &Profile) -> Result<BTreeMap<String, u64>> {
    let mut all = BTreeMap::new();
    for (path, calls) in counts(profile)? {
        let names = path
            .iter()
            .map(|(name, _)| name.split(['.', '(']).nth(1).unwrap_or_default());
        *all.entry(names.collect::<Vec<_>>().join(" ")).or_default() += calls;
    }
    Ok(all)
}
