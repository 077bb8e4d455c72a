//! `trodden instrument`: probes into class files and jars, ahead of the run.

mod archive;
mod deliver;
mod input;
mod loaded;
mod runtime;
mod signature;
mod work;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use sha2::{Digest, Sha256};
use trodden_instrumenter::{Filter, Guide, InstrumentOptions, Instrumenter, ProbeKind, Shim};
use trodden_profile::facts::{self, Facts};
use trodden_profile::options::{CutPaths, Probe, ProfileOptions, SinglePathMethods};
use trodden_profile::{Profile, RunInfo, Skipped, printable, printable_lines};

use crate::error::CliError;
use deliver::{deliver, plan};
use input::{Found, Input, Place, Policy, Root};
use loaded::{Copied, NestedArchives};
use runtime::Runtimes;
use work::{NewFile, Work};

/// Writes class files, jars or folders with probes, and their path maps beside them.
#[derive(Args)]
pub struct InstrumentArgs {
    /// Class files, jars, wars (with the jars inside), or folders of them.
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// Output file or folder. A folder that is there takes class files and jars by their names.
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
    /// Do methods with a single path carry a probe? Line coverage wants to know whether they ran.
    #[arg(long, value_parser = SinglePathMethods::from_str, value_name = "skip|probe", default_value = "skip")]
    single_path_methods: SinglePathMethods,
    /// Are paths counted that an exception cuts off? Only with --probe counters.
    #[arg(long, value_parser = CutPaths::from_str, value_name = "skip|count", default_value = "skip")]
    cut_paths: CutPaths,
    /// Profile of a former run: its hottest edges carry no register update (profile-guided probes).
    #[arg(long, value_name = "FILE")]
    use_profile: Option<PathBuf>,
    /// Archives inside of others that take probes: all, those that classes are known to be loaded from, or none.
    #[arg(long, value_enum, value_name = "all|known|none", default_value = "known")]
    nested: NestedArchives,
    /// Take the signatures off signed jars: they would no longer hold.
    #[arg(long)]
    strip_signatures: bool,
    /// Copy and list class files and inner jars that are broken or of an unknown version, instead of
    /// stopping.
    #[arg(long)]
    skip_broken: bool,
    /// Pack the path map into the output as well (META-INF/trodden/), where the running program finds it.
    #[arg(long)]
    embed_map: bool,
}

/// Does it.
pub fn instrument(args: &InstrumentArgs) -> Result<(), CliError> {
    let (probe, options) = instrument_options(args)?;
    let policy = Policy {
        strip_signatures: args.strip_signatures,
        skip_broken: args.skip_broken,
        nested: args.nested,
        survey: false,
    };
    for (input, output) in plan(&args.inputs, &args.output)? {
        let input = input::read(&input, policy)?;
        if args.embed_map && matches!(input.root, Root::Class) {
            let what = "error: --embed-map needs a jar or a folder; a class file holds nothing else";
            return Err(CliError::Usage(what.to_owned()));
        }
        one(args, probe, &options, policy, &input, &output)?;
    }
    Ok(())
}

/// Instruments one input.
fn one(
    args: &InstrumentArgs,
    probe: ProbeKind,
    options: &InstrumentOptions,
    policy: Policy,
    input: &Input,
    output: &Path,
) -> Result<(), CliError> {
    let unit = runtime::unit(input, &options_text(args, probe, options));
    let runtimes = Runtimes::of(input, &unit);
    let instrumenters: BTreeMap<&str, Instrumenter> = runtimes
        .names()
        .map(|name| {
            let shim = Shim {
                class: name.to_owned(),
            };
            let options = InstrumentOptions {
                shim,
                ..options.clone()
            };
            (name, Instrumenter::new(options))
        })
        .collect();
    let instrumenter = |class: &Found| instrumenters[runtimes.of_class(class)].clone();
    let mut work = work::prepare(instrumenter, input, policy)?;
    let methods = work
        .taken()
        .map(|(_, _, prepared)| prepared.map().methods.len())
        .sum::<usize>();
    let mut told = format!(
        "{methods} methods in {} of {} classes carry probes",
        work.taken().count(),
        work.seen()
    );
    if let Some(profile) = &args.use_profile {
        let guided: usize = work.taken().map(|(_, _, prepared)| prepared.guided()).sum();
        told += &format!(", {guided} of them placed by {}", profile.display());
    }
    let classes = work.classes();
    let ids = work::number(classes.iter().map(|class| &*class.map))?;
    let mut skipped = std::mem::take(&mut work.skipped);
    skipped.sort();
    skipped.dedup();
    let mut facts = Facts::default();
    facts.set(facts::UNIT, unit.clone());
    facts.set(facts::CUT_PATHS, args.cut_paths.to_string());
    let map = Profile {
        run: RunInfo {
            probe: probe.name().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            facts,
            ..RunInfo::default()
        },
        classes,
        skipped,
        ..Profile::default()
    };
    let bytes = map.to_bytes().map_err(CliError::failed)?;
    let mut new_files = runtime_files(&work, &runtimes, &unit, probe);
    if args.embed_map {
        new_files.extend(embedded_map(&work, &unit, bytes.clone()));
    }
    deliver(input, output, work.finish(&ids, new_files)?, bytes)?;
    summarize(output, &told, &map.skipped, &input.copied);
    Ok(())
}

/// All that shapes an output, as text.
fn options_text(args: &InstrumentArgs, probe: ProbeKind, options: &InstrumentOptions) -> String {
    let InstrumentArgs {
        include,
        exclude,
        path_limit,
        single_path_methods,
        cut_paths,
        nested,
        strip_signatures,
        ..
    } = args;
    let guide = options.guide.as_ref().map_or(0, |guide| guide.fingerprint());
    format!(
        "{} {include:?} {exclude:?} {path_limit} {single_path_methods} {cut_paths} {nested:?} {strip_signatures} \
         {guide:x}",
        probe.name()
    )
}

/// The classes that probes call: one wherever some class has probes. (Those of `safepoint` call nothing.)
fn runtime_files(work: &Work, runtimes: &Runtimes, unit: &str, probe: ProbeKind) -> Vec<NewFile> {
    let mut files: BTreeMap<(Option<usize>, String), NewFile> = BTreeMap::new();
    for (like, class, _) in work.taken().filter(|_| probe != ProbeKind::Safepoint) {
        let name = runtimes.of_class(class);
        let (archive, file) = match class.place {
            Place::Entry(archive, _) => (Some(archive), format!("{}{name}.class", class.prefix)),
            Place::File(_) => (None, format!("{}{name}.class", class.prefix)),
            // Beside the class, which is in the folder of its package.
            Place::Whole => (None, format!("{}.class", name.rsplit('/').next().unwrap_or(name))),
        };
        files.entry((archive, file.clone())).or_insert_with(|| NewFile {
            archive,
            name: file,
            bytes: runtime::class(name, unit),
            like,
        });
    }
    files.into_values().collect()
}

/// The path map where the program's class loader finds it: at the top, in a war with its classes.
fn embedded_map(work: &Work, unit: &str, bytes: Vec<u8>) -> Option<NewFile> {
    let war = work
        .taken()
        .find(|(_, class, _)| class.prefix == "WEB-INF/classes/");
    let top = work.taken().find(|(_, class, _)| match class.place {
        Place::Entry(archive, _) => archive == 0,
        Place::Whole | Place::File(_) => true,
    });
    let (like, class, _) = war.or(top).or_else(|| work.taken().next())?;
    let archive = match class.place {
        Place::Entry(archive, _) => Some(archive),
        Place::Whole | Place::File(_) => None,
    };
    let prefix = if war.is_some() { "WEB-INF/classes/" } else { "" };
    Some(NewFile {
        archive,
        name: format!("{prefix}META-INF/trodden/{unit}.map.trodden"),
        bytes,
        like,
    })
}

fn instrument_options(args: &InstrumentArgs) -> Result<(ProbeKind, InstrumentOptions), CliError> {
    let mut pairs: Vec<(&str, &str)> = vec![("probe", args.probe.resolved().name())];
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
    let guide = args.use_profile.as_deref().map(Guide::load).transpose();
    let guide = guide.map_err(CliError::failed)?;
    let instrument = InstrumentOptions {
        filter: Filter::new(&options.code.include, &options.code.exclude).map_err(|e| usage(&e))?,
        path_limit: u64::from(args.path_limit),
        skip_single_path_loops: options.skips_single_path_loops(),
        single_path_methods: args.single_path_methods == SinglePathMethods::Probe,
        cut_paths: args.cut_paths == CutPaths::Count,
        guide: guide.map(Arc::new),
        ..InstrumentOptions::new(probe)
    };
    Ok((probe, instrument))
}

/// Says on standard error what was done, and what was not and why.
fn summarize(output: &Path, told: &str, skipped: &[Skipped], copied: &[(Copied, String)]) {
    let mut text = format!("{}: {told}", output.display());
    for (reason, examples) in by_reason(skipped) {
        let alone = match reason.starts_with(Skipped::NO_CUT_PATHS) {
            true => "",
            false => "left alone, ",
        };
        text.push_str(&format!(
            "\n  {alone}{reason}: {} (such as {})",
            examples.len(),
            printable(&examples[0])
        ));
    }
    let mut reasons: BTreeMap<Copied, Vec<&str>> = BTreeMap::new();
    for (why, label) in copied {
        reasons.entry(*why).or_default().push(label);
    }
    for (why, mut labels) in reasons {
        labels.sort_unstable();
        text.push_str(&format!("\n  {}: {}", why.text(), labels.len()));
        for label in labels {
            text.push_str(&format!("\n    {}", printable(label)));
        }
    }
    eprintln!("{}", printable_lines(&text));
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

/// A class file of a folder or jar.
pub struct ClassFile {
    /// For messages: `app.jar!/a/B.class`.
    pub label: String,
    /// Internal name.
    pub name: String,
    pub bytes: Vec<u8>,
    /// The Java release that it is for, if it is below `META-INF/versions`.
    pub release: Option<u32>,
}

/// All classes in a class file, jar or folder; broken ones are left out.
pub fn classes(path: &Path) -> Result<Vec<ClassFile>, CliError> {
    let policy = Policy {
        survey: true,
        ..Policy::default()
    };
    let found = input::read(path, policy)?.classes.into_iter();
    let class = found.map(|f| ClassFile {
        label: f.label,
        name: f.name,
        bytes: f.bytes,
        release: release(&f.prefix),
    });
    Ok(class.collect())
}

/// The release in `META-INF/versions/11/`.
fn release(prefix: &str) -> Option<u32> {
    let (_, versions) = prefix.split_once("META-INF/versions/")?;
    versions.split('/').next()?.parse().ok()
}

/// The hash by which a class is known.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// What would be skipped in a class file, jar or folder, without writing anything: (classes seen, methods
/// that take
/// probes, what is left alone).
pub fn survey(path: &Path) -> Result<(usize, usize, Vec<Skipped>), CliError> {
    let policy = Policy {
        survey: true,
        ..Policy::default()
    };
    let instrumenter = Instrumenter::new(InstrumentOptions::new(ProbeKind::Yieldpoint));
    let input = input::read(path, policy)?;
    let work = work::prepare(|_| instrumenter.clone(), &input, policy)?;
    let methods = work.classes().iter().map(|c| c.map.methods.len()).sum();
    Ok((work.seen(), methods, work.skipped))
}
