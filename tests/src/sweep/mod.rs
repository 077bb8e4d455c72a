//! The verification sweep: every class of JDK images and jars goes through the instrumenter.
//!
//! For each class: the round trip without probes must give back the same bytes; rewriting with each probe
//! strategy must neither fail nor panic; HotSpot's verifier must accept the result (`verifier/Verify.java`
//! describes how it is asked). What HotSpot refuses in its original form too (missing dependencies) is
//! counted apart.

mod corpus;
mod judge;
mod table;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use trodden_instrumenter::{
    CallWeight, ClassIds, EventProbes, Filter, InstrumentOptions, Instrumenter, Preparation, ProbeKind,
    Probes, RequestMethods, round_trip,
};

use crate::Result;
use crate::jdk::Jdk;
pub use corpus::{ClassEntry, Container, Corpus, Sample, jars_below};
pub use judge::{Judge, Verdicts};
pub use table::print;

/// Share of methods that may be left alone.
pub const LEFT_ALONE_LIMIT: f64 = 0.005;

/// Probes to put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    probes: Probes,
    /// True if paths are counted that an exception cuts off, in methods with a single path too, and the
    /// register is visible in frames.
    cuts: bool,
    /// True if probes of requests are around every method that has others or none.
    requests: bool,
}

impl Probe {
    /// The probes of a kind; of events those that a profile of paths needs.
    pub fn for_kind(kind: ProbeKind) -> Self {
        Probe {
            probes: kind.into(),
            cuts: false,
            requests: false,
        }
    }

    /// All kinds; of `events` also those that count activations or report calls, of `counters` also with cut
    /// paths, and these with probes of requests around them.
    pub fn all() -> Vec<Probe> {
        let events = [
            EventProbes::CountedActivations,
            EventProbes::Calls(CallWeight::Nothing),
            EventProbes::Calls(CallWeight::Paths),
            EventProbes::CallBursts,
            EventProbes::Calls(CallWeight::Time),
            EventProbes::Calls(CallWeight::PathsToCalls),
        ];
        let kinds = ProbeKind::ALL.into_iter().map(Probe::for_kind);
        let events = events.map(|probes| Probe {
            probes: probes.into(),
            cuts: false,
            requests: false,
        });
        let cuts = Probe {
            cuts: true,
            ..Probe::for_kind(ProbeKind::Counters)
        };
        let requests = Probe {
            requests: true,
            ..cuts
        };
        kinds.chain(events).chain([cuts, requests]).collect()
    }

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self.probes {
            _ if self.requests => "requests",
            _ if self.cuts => "cut paths",
            Probes::Events(EventProbes::CountedActivations) => "counted activations",
            Probes::Events(EventProbes::CallBursts) => "bursts",
            Probes::Events(EventProbes::Calls(CallWeight::Nothing)) => "calls",
            Probes::Events(EventProbes::Calls(CallWeight::Paths)) => "calls+paths",
            Probes::Events(EventProbes::Calls(CallWeight::PathsToCalls)) => "calls along paths",
            Probes::Events(EventProbes::Calls(CallWeight::Time)) => "timed calls",
            probes => probes.kind().name(),
        }
    }
}

/// The classes to sweep.
#[derive(Clone, Debug)]
pub struct Options {
    /// JDKs whose verifier is asked; their own classes are swept too if `images`.
    pub jdks: Vec<Jdk>,
    /// True to sweep the JDKs' own classes.
    pub images: bool,
    /// Jars to sweep on each of the JDKs.
    pub jars: Vec<PathBuf>,
    /// Probe strategies.
    pub probes: Vec<Probe>,
    /// Only some of the classes.
    pub sample: Option<Sample>,
}

/// The outcome for the classes of one container with one probe strategy on one JDK.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Feature version of the JDK.
    pub jdk: u32,
    /// Name of the container.
    pub container: String,
    /// Probe strategy.
    pub probe: &'static str,
    /// Classes read.
    pub classes: usize,
    /// Classes that got probes.
    pub rewritten: usize,
    /// Methods that got probes.
    pub methods: usize,
    /// Methods among these whose probes report less than others': no call sites, or no cut paths.
    pub without_sites: usize,
    /// Methods (or classes) left alone although they branch, by reason.
    pub left_alone: BTreeMap<String, usize>,
    /// Rewritten classes that HotSpot accepted.
    pub accepted: usize,
    /// Entry and message of those that HotSpot refused already before they were rewritten.
    pub refused_before: Vec<(String, String)>,
    /// Entry and message of whatever must not happen.
    pub failures: Vec<(String, String)>,
}

/// Sweeps; `progress` gets each finished row.
///
/// # Errors
/// If the corpus cannot be read or the judge cannot be started: not for failures, which are in the rows.
pub fn sweep(options: &Options, mut progress: impl FnMut(&Row)) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let work = tempfile::tempdir()?;
    for jdk in &options.jdks {
        let corpus = Corpus::new(jdk, options, work.path())?;
        let mut judge = Judge::start(jdk, &options.jars)?;
        for container in &corpus.containers {
            let classes = container.classes(options.sample.as_ref())?;
            let round = round_trips(&classes);
            for (index, &probe) in options.probes.iter().enumerate() {
                let mut row = Row {
                    jdk: jdk.feature,
                    container: container.name(),
                    probe: probe.name(),
                    classes: classes.len(),
                    ..Row::default()
                };
                if index == 0 {
                    row.failures.extend(round.clone());
                }
                one(&classes, probe, container, &mut judge, work.path(), &mut row)?;
                progress(&row);
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

fn round_trips(classes: &[ClassEntry]) -> Vec<(String, String)> {
    let differs = |class: &ClassEntry| {
        let message = match guarded(|| round_trip(&class.bytes)) {
            Ok(Ok(bytes)) if bytes == class.bytes => return None,
            Ok(Ok(bytes)) => format!("round trip: {} bytes became {}", class.bytes.len(), bytes.len()),
            Ok(Err(e)) => format!("round trip: {e}"),
            Err(panic) => format!("round trip: panic: {panic}"),
        };
        Some((class.entry.clone(), message))
    };
    classes.par_iter().filter_map(differs).collect()
}

/// The result of the instrumenter for a class.
enum Made {
    Rewritten {
        bytes: Vec<u8>,
        methods: usize,
        without_sites: usize,
        left_alone: Vec<String>,
    },
    Unchanged {
        left_alone: Vec<String>,
    },
    Failed(String),
}

fn one(
    classes: &[ClassEntry],
    probe: Probe,
    container: &Container,
    judge: &mut Judge,
    work: &Path,
    row: &mut Row,
) -> Result<()> {
    let mut options = InstrumentOptions::new(probe.probes);
    options.cut_paths = probe.cuts;
    options.open_paths = probe.cuts;
    options.single_path_methods = probe.cuts;
    options.filter = Filter::everything();
    let instrumenter = Instrumenter::new(options);
    let requests = probe.requests.then(|| RequestMethods::new(&["*"])).transpose()?;
    let made: Vec<Made> = classes
        .par_iter()
        .map(|class| make(&instrumenter, class, requests.as_ref()))
        .collect();
    let mut rewritten = Vec::new();
    for (class, made) in classes.iter().zip(made) {
        let left_alone = match made {
            Made::Rewritten {
                bytes,
                methods,
                without_sites,
                left_alone,
            } => {
                row.without_sites += without_sites;
                rewritten.push((class.entry.as_str(), bytes));
                row.methods += methods;
                left_alone
            }
            Made::Unchanged { left_alone } => left_alone,
            Made::Failed(message) => {
                row.failures.push((class.entry.clone(), message));
                continue;
            }
        };
        for reason in left_alone {
            *row.left_alone.entry(reason).or_default() += 1;
        }
    }
    row.rewritten = rewritten.len();
    let verdicts = judge.verify(container, &rewritten, work)?;
    row.accepted = verdicts.accepted;
    row.refused_before = verdicts.original;
    row.failures.extend(verdicts.rejected);
    let judged = row.accepted + row.refused_before.len() + row.failures.len();
    if judged < row.rewritten {
        let message = format!("the judge spoke about {judged} of {} classes", row.rewritten);
        row.failures.push((container.name(), message));
    }
    Ok(())
}

fn make(instrumenter: &Instrumenter, class: &ClassEntry, requests: Option<&RequestMethods>) -> Made {
    match requests {
        Some(requests) => with_requests(make_paths(instrumenter, class), class, requests),
        None => make_paths(instrumenter, class),
    }
}

/// Puts probes of requests around all methods.
fn with_requests(made: Made, class: &ClassEntry, requests: &RequestMethods) -> Made {
    let (before, mut left_alone) = match &made {
        Made::Rewritten {
            bytes, left_alone, ..
        } => (bytes, left_alone.clone()),
        Made::Unchanged { left_alone } => (&class.bytes, left_alone.clone()),
        Made::Failed(_) => return made,
    };
    let number = class.number * 40;
    match guarded(|| requests.put_into(before, |_, _| number)) {
        Err(panic) => Made::Failed(format!("panic: {panic}")),
        Ok(Err(e)) => Made::Failed(e.to_string()),
        Ok(Ok(None)) => made,
        Ok(Ok(Some(with))) => {
            left_alone.extend(with.refused.into_iter().map(|(_, reason)| reason.to_owned()));
            Made::Rewritten {
                bytes: with.bytes,
                methods: with.methods.len(),
                without_sites: 0,
                left_alone,
            }
        }
    }
}

fn make_paths(instrumenter: &Instrumenter, class: &ClassEntry) -> Made {
    // As wide as those of a long run, and different from class to class.
    let ids = ClassIds::new(class.number * 7, class.number * 40);
    let work = || match instrumenter.prepare(&class.bytes) {
        Ok(Preparation::Ready(prepared)) => Made::Rewritten {
            methods: prepared.map().methods.len(),
            without_sites: prepared.skipped().iter().filter(|s| s.has_probes()).count(),
            left_alone: (prepared.skipped().iter().filter(|s| !s.has_probes()))
                .map(|s| s.reason.clone())
                .collect(),
            bytes: prepared.emit(ids),
        },
        Ok(Preparation::Unchanged { skipped }) => Made::Unchanged {
            left_alone: skipped.into_iter().map(|s| s.reason).collect(),
        },
        Err(e) => Made::Failed(e.to_string()),
    };
    guarded(work).unwrap_or_else(|panic| Made::Failed(format!("panic: {panic}")))
}

fn guarded<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap_or_else(|| "no message".to_owned())
    })
}

/// All rows' failures, and whether too many methods were left alone; empty if the sweep is clean.
pub fn verdict(rows: &[Row]) -> Vec<String> {
    let mut wrong = Vec::new();
    for row in rows {
        let place = format!("jdk{} {} {}", row.jdk, row.container, row.probe);
        wrong.extend(
            row.failures
                .iter()
                .map(|(entry, why)| format!("{place}: {entry}: {why}")),
        );
    }
    let (probed, alone) = totals(rows);
    let share = alone as f64 / (probed + alone).max(1) as f64;
    if share >= LEFT_ALONE_LIMIT {
        wrong.push(format!("{alone} of {} methods were left alone", probed + alone));
    }
    if probed == 0 {
        wrong.push("no method got probes".to_owned());
    }
    wrong
}

/// Methods with probes, and methods left alone.
pub fn totals(rows: &[Row]) -> (usize, usize) {
    let probed = rows.iter().map(|r| r.methods).sum();
    let alone = rows.iter().flat_map(|r| r.left_alone.values()).sum();
    (probed, alone)
}
