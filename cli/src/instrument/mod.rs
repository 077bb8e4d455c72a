//! `trodden instrument`: probes into class files and jars, ahead of the run.

mod archive;
mod deliver;
mod input;
mod loaded;
mod runtime;
mod signature;
mod walk;
mod work;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use sha2::{Digest, Sha256};
use trodden_instrumenter::{Filter, Guide, InstrumentOptions, ProbeKind};
use trodden_profile::facts::{self, Facts};
use trodden_profile::options::{CutPaths, Probe, ProfileKind, ProfileOptions, SinglePathMethods};
use trodden_profile::{RunInfo, Skipped, printable};

use crate::error::CliError;
use crate::output;
use deliver::{Delivery, plan};
use input::{Found, Input, Policy, Root};
use loaded::{Copied, NestedArchives};
use runtime::Homes;
use walk::{Outcome, Packable, Visit, Walk};
use work::Work;

/// Writes class files, jars or folders with probes, and their path maps next to them.
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
    /// Kind of profile: paths, or coverage (what ran at all, by probes that compiled code drops).
    #[arg(long, value_parser = ["paths", "coverage"], value_name = "paths|coverage", default_value = "paths")]
    profile: String,
    /// Classes to instrument (wildcards * and ?), or Class#method; may be repeated or joined by +.
    #[arg(long, value_name = "PATTERN")]
    include: Vec<String>,
    /// Classes, or Class#method, to leave alone.
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// Most paths a method may have before paths are cut in two.
    #[arg(long, value_name = "N", default_value_t = i32::MAX as u32, value_parser = clap::value_parser!(u32).range(2..=i64::from(i32::MAX)))]
    path_limit: u32,
    /// Probes in methods with a single path. Line coverage needs them to know whether these ran.
    #[arg(long, value_parser = SinglePathMethods::from_str, value_name = "skip|probe", default_value = "skip")]
    single_path_methods: SinglePathMethods,
    /// Counting of paths that an exception cuts off. Only with --probe counters.
    #[arg(long, value_parser = CutPaths::from_str, value_name = "skip|count", default_value = "skip")]
    cut_paths: CutPaths,
    /// Profile of a former run: its hottest edges carry no register update (profile-guided probes).
    #[arg(long, value_name = "FILE")]
    use_profile: Option<PathBuf>,
    /// Archives inside of others that take probes: all, those that classes are known to be loaded from, or
    /// none.
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

/// Runs `trodden instrument`.
pub fn instrument(args: &InstrumentArgs) -> Result<(), CliError> {
    let (probe, options) = instrument_options(args)?;
    for (input, output) in plan(&args.inputs, &args.output)? {
        let input = input::open(&input)?;
        if args.embed_map && matches!(input.root, Root::Class(_)) {
            let what = "error: --embed-map needs a jar or a folder; a class file holds nothing else";
            return Err(CliError::Usage(what.to_owned()));
        }
        one(args, probe, &options, &input, &output)?;
    }
    Ok(())
}

/// Instruments one input.
fn one(
    args: &InstrumentArgs,
    probe: ProbeKind,
    options: &InstrumentOptions,
    input: &Input,
    output: &Path,
) -> Result<(), CliError> {
    let policy = Policy {
        strip_signatures: args.strip_signatures,
        skip_broken: args.skip_broken,
        nested: args.nested,
        survey: false,
    };
    let unit = runtime::unit(input, &options_text(args, probe, options))?;
    let mut facts = Facts::default();
    facts.set(facts::UNIT, unit.clone());
    facts.set(facts::CUT_PATHS, args.cut_paths.to_string());
    let run = RunInfo {
        probe: probe.name().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        facts,
        ..RunInfo::default()
    };
    // The probes of `safepoint` call nothing.
    let runtime = (probe != ProbeKind::Safepoint).then_some(unit.as_str());
    let mut packable = None;
    if args.embed_map {
        // The map is known when the last class is written, and may belong to the first archive: so it is made
        // first.
        let mut work = Work::new(options, policy, &unit, false);
        let mut walk = Walk::new(&mut work, policy, runtime);
        walk.look(input)?;
        let (spot, broken) = (walk.spot(), std::mem::take(&mut walk.skipped));
        let (_, bytes) = finish(work, broken, &run)?;
        packable = spot.map(|spot| Packable {
            spot,
            name: format!("META-INF/trodden/{unit}.map.trodden"),
            bytes,
        });
    }
    let mut work = Work::new(options, policy, &unit, true);
    let walk = Walk::new(&mut work, policy, runtime).with_packed(packable.as_ref());
    let bar = progress(input);
    let mut walk = walk.with_progress(bar.clone());
    let delivery = Delivery::new(input, output, &mut walk);
    bar.finish_and_clear();
    let delivery = delivery?;
    let (broken, copied) = (
        std::mem::take(&mut walk.skipped),
        std::mem::take(&mut walk.copied),
    );
    let mut summary = format!(
        "{} methods in {} of {} classes carry probes",
        work.methods, work.taken, work.seen
    );
    if let Some(profile) = &args.use_profile {
        summary += &format!(", {} of them placed by {}", work.guided, profile.display());
    }
    let (skipped, map) = finish(work, broken, &run)?;
    delivery.place(map)?;
    summarize(output, &summary, &skipped, &copied);
    Ok(())
}

/// The methods that were left alone, and the path map.
fn finish(work: Work<'_>, broken: Vec<Skipped>, run: &RunInfo) -> Result<(Vec<Skipped>, Vec<u8>), CliError> {
    let mut skipped = work.skipped;
    skipped.extend(broken);
    skipped.sort();
    skipped.dedup();
    let map = work.maps.finish(run, &skipped).map_err(CliError::failed)?;
    Ok((skipped, map))
}

fn progress(input: &Input) -> ProgressBar {
    let length = match &input.root {
        Root::Class(found) => found.bytes.len() as u64,
        Root::Archive(source, _) => source.len() as u64,
        Root::Folder(files) => {
            let sizes = files.iter().map(|file| fs::metadata(input.path.join(file)));
            sizes.flatten().map(|data| data.len()).sum()
        }
    };
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {msg}");
    ProgressBar::new(length)
        .with_style(style.unwrap_or(ProgressStyle::default_bar()))
        .with_message(input.path.display().to_string())
}

/// Everything that shapes an output, as text.
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

fn instrument_options(args: &InstrumentArgs) -> Result<(ProbeKind, InstrumentOptions), CliError> {
    let mut pairs: Vec<(&str, &str)> = vec![("profile", args.profile.as_str())];
    let coverage = args.profile == ProfileKind::Coverage.name();
    let probe = if coverage {
        args.probe
    } else {
        args.probe.resolved()
    };
    pairs.push(("probe", probe.name()));
    pairs.extend(args.include.iter().map(|p| ("include", p.as_str())));
    pairs.extend(args.exclude.iter().map(|p| ("exclude", p.as_str())));
    let usage = |e: &dyn std::fmt::Display| CliError::Usage(format!("error: {e}"));
    let options = ProfileOptions::from_pairs(&pairs).map_err(|e| usage(&e))?;
    let probe = match options.probe.resolved() {
        _ if coverage => ProbeKind::Coverage,
        Probe::Counters => ProbeKind::Counters,
        Probe::Safepoint => ProbeKind::Safepoint,
        Probe::Auto | Probe::Yieldpoint => ProbeKind::Yieldpoint,
        Probe::None => {
            return Err(CliError::Usage(
                "error: --probe none puts nothing into classes; there is nothing to instrument".to_owned(),
            ));
        }
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
        single_path_methods: args.single_path_methods == SinglePathMethods::Probe,
        cut_paths: args.cut_paths == CutPaths::Count,
        coverage_by_map: coverage,
        guide: guide.map(Arc::new),
        ..InstrumentOptions::new(probe)
    };
    Ok((probe, instrument))
}

/// Says on standard error what was done, and what was not and why.
fn summarize(output: &Path, summary: &str, skipped: &[Skipped], copied: &[(Copied, String)]) {
    let mut text = format!("{}: {summary}", output.display());
    for (reason, examples) in by_reason(skipped) {
        let alone = if reason.starts_with(Skipped::NO_CUT_PATHS) {
            ""
        } else {
            "left alone, "
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
    output::say(&text);
}

/// The skipped methods, by reason.
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

/// Keeps all classes.
#[derive(Default)]
struct Collect(Vec<ClassFile>);

impl Visit for Collect {
    fn classes(&mut self, _: &Homes, classes: Vec<(Found, u16)>) -> Result<Vec<Outcome>, CliError> {
        let outcomes = classes.iter().map(|_| Outcome::Left).collect();
        self.0.extend(classes.into_iter().map(|(found, _)| ClassFile {
            release: release(&found.label),
            label: found.label,
            name: found.name,
            bytes: found.bytes,
        }));
        Ok(outcomes)
    }
}

const SURVEY: Policy = Policy {
    strip_signatures: false,
    skip_broken: false,
    nested: NestedArchives::Known,
    survey: true,
};

/// All classes in a class file, jar or folder; broken ones are left out.
pub fn classes(path: &Path) -> Result<Vec<ClassFile>, CliError> {
    let mut all = Collect::default();
    Walk::new(&mut all, SURVEY, None).look(&input::open(path)?)?;
    Ok(all.0)
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

/// A survey of what would be skipped in a class file, jar or folder, without writing anything: (classes seen,
/// methods that take probes, what is left alone).
pub fn survey(path: &Path) -> Result<(usize, usize, Vec<Skipped>), CliError> {
    let options = InstrumentOptions::new(ProbeKind::Yieldpoint);
    let mut work = Work::new(&options, SURVEY, "", false);
    let mut walk = Walk::new(&mut work, SURVEY, None);
    walk.look(&input::open(path)?)?;
    let mut skipped = std::mem::take(&mut walk.skipped);
    skipped.extend(work.skipped);
    Ok((work.seen, work.methods, skipped))
}
