//! `trodden instrument`: probes into class files and jars, ahead of the run.

mod jar;
mod signature;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use trodden_instrumenter::{ClassIds, Filter, InstrumentOptions, Instrumenter, Preparation, ProbeKind, Shim};
use trodden_profile::options::{Probe, ProfileOptions};
use trodden_profile::{ClassMap, ClassProfile, CounterLayout, MethodCounts, Profile, RunInfo, Skipped};

use crate::error::CliError;
use crate::output::write_file;

/// The class that code calls which is instrumented ahead of the run: java.base cannot be patched there.
const RUNTIME_CLASS: &str = "trodden/Runtime";

/// Writes class files or jars with probes, and their path map beside them.
#[derive(Args)]
pub struct InstrumentArgs {
    /// Class files or jars.
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// Output file, or a directory (which must exist for a single input).
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Kind of probe: yieldpoint, counters or safepoint.
    #[arg(long, value_parser = Probe::from_str, value_name = "PROBE", default_value = "auto")]
    probe: Probe,
    /// Classes to instrument (wildcards * and ?), or Class#method; may be repeated or joined by +.
    #[arg(long, value_name = "PATTERN")]
    include: Vec<String>,
    /// Classes, or Class#method, to leave alone.
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// Most paths a method may have before paths are cut in two.
    #[arg(long, value_name = "N", default_value_t = i32::MAX as u32, value_parser = clap::value_parser!(u32).range(2..=i64::from(i32::MAX)))]
    path_limit: u32,
    /// Take the signatures off signed jars: they would no longer hold.
    #[arg(long)]
    strip_signatures: bool,
}

/// What came of one input.
#[derive(Default)]
struct Outcome {
    classes: Vec<ClassProfile>,
    skipped: Vec<Skipped>,
    seen: usize,
}

/// Hands out ids, so that classes of one invocation can run together.
#[derive(Default)]
struct IdSource {
    counter: u32,
    method: u32,
}

impl IdSource {
    fn take(&mut self, class: &ClassMap) -> Result<ClassIds, CliError> {
        let ids = ClassIds {
            first_counter: self.counter,
            first_method: self.method,
        };
        let methods = u32::try_from(class.methods.len()).ok();
        let next = methods.and_then(|m| self.method.checked_add(m));
        self.method = next.ok_or_else(|| CliError::Failed("too many methods".to_owned()))?;
        let slots = CounterLayout::of(class).slots;
        let next = self
            .counter
            .checked_add(slots)
            .filter(|&next| next <= i32::MAX as u32);
        self.counter = next.ok_or_else(|| CliError::Failed("too many paths".to_owned()))?;
        Ok(ids)
    }
}

/// Does it.
pub fn instrument(args: &InstrumentArgs) -> Result<(), CliError> {
    let (probe, options) = instrument_options(args)?;
    let instrumenter = Instrumenter::new(options);
    let mut ids = IdSource::default();
    for (input, output) in plan(args)? {
        let bytes = fs::read(&input).map_err(|e| CliError::file(&input, e))?;
        let (out, mut outcome) = if bytes.starts_with(&[0xca, 0xfe, 0xba, 0xbe]) {
            single(&instrumenter, &input, bytes, &mut ids)?
        } else if bytes.starts_with(b"PK") {
            jar::instrument(&instrumenter, &input, &bytes, &mut ids, args.strip_signatures)?
        } else {
            return Err(CliError::file(&input, "is neither a class file nor a jar"));
        };
        outcome
            .classes
            .sort_by(|a, b| (&a.map.name, a.map.sha256).cmp(&(&b.map.name, b.map.sha256)));
        outcome.skipped.sort();
        summarize(&output, &outcome);
        let map = Profile {
            run: RunInfo {
                probe: probe.name().to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                ..RunInfo::default()
            },
            classes: outcome.classes,
            skipped: outcome.skipped,
            ..Profile::default()
        };
        let map_file = map_path(&output);
        map.save(&map_file).map_err(CliError::failed)?;
        write_file(&output, &out)?;
    }
    Ok(())
}

fn instrument_options(args: &InstrumentArgs) -> Result<(ProbeKind, InstrumentOptions), CliError> {
    let mut pairs: Vec<(&str, &str)> = vec![("probe", args.probe.name())];
    pairs.extend(args.include.iter().map(|p| ("include", p.as_str())));
    pairs.extend(args.exclude.iter().map(|p| ("exclude", p.as_str())));
    let usage = |e: &dyn std::fmt::Display| CliError::Usage(format!("error: {e}"));
    let options = ProfileOptions::from_pairs(&pairs).map_err(|e| usage(&e))?;
    let probe = match options.probe.resolved() {
        Probe::Counters => ProbeKind::Counters,
        Probe::Safepoint => ProbeKind::Safepoint,
        Probe::Auto | Probe::Yieldpoint => ProbeKind::Yieldpoint,
        Probe::Events => {
            return Err(CliError::Usage(
                "error: --probe events is not available here: its events need the agent".to_owned(),
            ));
        }
    };
    let instrument = InstrumentOptions {
        filter: Filter::new(&options.include, &options.exclude).map_err(|e| usage(&e))?,
        shim: Shim {
            class: RUNTIME_CLASS.to_owned(),
        },
        path_limit: u64::from(args.path_limit),
        skip_single_path_loops: options.skips_single_path_loops(),
        ..InstrumentOptions::new(probe)
    };
    Ok((probe, instrument))
}

/// Which output belongs to which input.
fn plan(args: &InstrumentArgs) -> Result<Vec<(PathBuf, PathBuf)>, CliError> {
    if let [input] = args.inputs.as_slice()
        && !args.output.is_dir()
    {
        return Ok(vec![(input.clone(), args.output.clone())]);
    }
    fs::create_dir_all(&args.output).map_err(|e| CliError::file(&args.output, e))?;
    let mut planned: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for input in &args.inputs {
        let name = input
            .file_name()
            .ok_or_else(|| CliError::file(input, "is not a file"))?;
        if let Some(other) = planned.insert(args.output.join(name), input.clone()) {
            let both = format!("{} and {}", other.display(), input.display());
            return Err(CliError::Usage(format!(
                "error: {both} would become the same file"
            )));
        }
    }
    Ok(planned
        .into_iter()
        .map(|(output, input)| (input, output))
        .collect())
}

fn map_path(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".map.trodden");
    PathBuf::from(name)
}

fn single(
    instrumenter: &Instrumenter,
    input: &Path,
    bytes: Vec<u8>,
    ids: &mut IdSource,
) -> Result<(Vec<u8>, Outcome), CliError> {
    let mut outcome = Outcome {
        seen: 1,
        ..Outcome::default()
    };
    let out = match instrumenter
        .prepare(&bytes)
        .map_err(|e| CliError::file(input, e))?
    {
        Preparation::Unchanged { skipped } => {
            outcome.skipped = skipped;
            bytes
        }
        Preparation::Ready(prepared) => {
            let out = prepared.emit(ids.take(prepared.map())?);
            outcome.skipped = prepared.skipped().to_vec();
            outcome.classes.push(uncounted(prepared.map()));
            out
        }
    };
    Ok((out, outcome))
}

/// A class with no counts yet.
fn uncounted(map: &std::sync::Arc<trodden_profile::ClassMap>) -> ClassProfile {
    ClassProfile {
        counts: vec![MethodCounts::default(); map.methods.len()],
        map: map.clone(),
    }
}

/// Tells on standard error what was done, and what was not and why.
fn summarize(output: &Path, outcome: &Outcome) {
    let methods: usize = outcome.classes.iter().map(|c| c.map.methods.len()).sum();
    let (classes, seen) = (outcome.classes.len(), outcome.seen);
    eprintln!(
        "{}: {methods} methods in {classes} of {seen} classes carry probes",
        output.display()
    );
    for (reason, examples) in by_reason(&outcome.skipped) {
        eprintln!(
            "  left alone, {reason}: {} (such as {})",
            examples.len(),
            examples[0]
        );
    }
}

/// What was skipped, by reason.
pub fn by_reason(skipped: &[Skipped]) -> BTreeMap<&str, Vec<String>> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in skipped {
        let class = one.class.replace('/', ".");
        let name = match &one.method {
            Some(method) => format!("{class}.{method}"),
            None => class,
        };
        reasons.entry(&one.reason).or_default().push(name);
    }
    reasons
}

/// What would be skipped in a class file or jar, without writing anything: (classes seen, methods that take
/// probes, what is left alone).
pub fn survey(path: &Path) -> Result<(usize, usize, Vec<Skipped>), CliError> {
    let instrumenter = Instrumenter::new(InstrumentOptions::new(ProbeKind::Yieldpoint));
    let bytes = fs::read(path).map_err(|e| CliError::file(path, e))?;
    let (_, outcome) = if bytes.starts_with(b"PK") {
        jar::instrument(&instrumenter, path, &bytes, &mut IdSource::default(), true)?
    } else {
        single(&instrumenter, path, bytes, &mut IdSource::default())?
    };
    let methods = outcome.classes.iter().map(|c| c.map.methods.len()).sum();
    Ok((outcome.seen, methods, outcome.skipped))
}
