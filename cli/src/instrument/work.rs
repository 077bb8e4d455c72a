//! The work on classes: prepared, numbered and written, in the order in which they come.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use trodden_instrumenter::{
    ClassIds, InstrumentOptions, Instrumenter, Preparation, Prepared, Shim, SkipReason,
};
use trodden_profile::{ClassMap, CounterLayout, MapsWriter, MethodConditions, Skipped};
use trodden_source::{LabelTables, recover};

use super::archive::Packed;
use super::input::{Found, Policy};
use super::runtime::Homes;
use super::walk::{Outcome, Visit};
use crate::error::CliError;

/// Maximum number of counter slots of one output. A JVM has room for about 33 million, for everything that
/// runs there.
const MAX_SLOTS: u32 = 32_000_000;
/// Maximum number of methods of one output.
const MAX_METHODS: u32 = i32::MAX as u32 / 2;

/// The state of the work.
pub struct Work<'a> {
    options: &'a InstrumentOptions,
    policy: Policy,
    unit: &'a str,
    /// True if the classes are to be written, not just numbered.
    writes: bool,
    ids: Ids,
    /// Labels of `switch` over enums, from the classes that came so far.
    tables: LabelTables,
    /// The path maps of all classes that take probes, without counts.
    pub maps: MapsWriter,
    /// Methods that are left alone.
    pub skipped: Vec<Skipped>,
    /// Classes that came.
    pub seen: usize,
    /// Those that take probes.
    pub taken: usize,
    /// Methods that take probes.
    pub methods: usize,
    /// Those of them that are placed by a former profile.
    pub guided: usize,
}

/// Ids of the classes, in the order of the path map: so they follow from the map.
#[derive(Default)]
struct Ids {
    /// By the hash of the class.
    of: HashMap<[u8; 32], ClassIds>,
    counters: u32,
    methods: u32,
}

/// A class that takes probes.
type Ready<'c> = (Box<Prepared<'c>>, ClassIds);

/// The outcome for a class.
type Verdict<'c> = Result<(Option<Box<Prepared<'c>>>, Vec<Skipped>), String>;

impl<'a> Work<'a> {
    /// Begins. `writes`: the classes are to be written, not just numbered.
    pub fn new(options: &'a InstrumentOptions, policy: Policy, unit: &'a str, writes: bool) -> Self {
        Work {
            options,
            policy,
            unit,
            writes,
            ids: Ids::default(),
            tables: LabelTables::default(),
            maps: MapsWriter::default(),
            skipped: Vec::new(),
            seen: 0,
            taken: 0,
            methods: 0,
            guided: 0,
        }
    }
}

impl Visit for Work<'_> {
    fn classes(&mut self, homes: &Homes, classes: Vec<(Found, u16)>) -> Result<Vec<Outcome>, CliError> {
        let mut instrumenters: BTreeMap<&str, Instrumenter> = BTreeMap::new();
        for (class, _) in &classes {
            instrumenters.entry(&class.prefix).or_insert_with(|| {
                let class = homes.runtime(&class.prefix, self.unit);
                let shim = Shim { class };
                Instrumenter::new(InstrumentOptions {
                    shim,
                    ..self.options.clone()
                })
            });
        }
        let policy = self.policy;
        let verdicts: Vec<Verdict> = classes
            .par_iter()
            .map(|(class, _)| prepare(&instrumenters[class.prefix.as_str()], class, policy))
            .collect();
        for (class, _) in &classes {
            self.tables.keep(&class.name, &class.bytes);
        }
        let (tables, ids) = (&self.tables, &self.ids);
        let conditions: Vec<Vec<MethodConditions>> = verdicts
            .par_iter()
            .zip(&classes)
            .map(|(verdict, (class, _))| match verdict {
                Ok((Some(ready), _)) if !ids.of.contains_key(&ready.map().sha256) => {
                    // A class whose conditions cannot be recovered has none; its counts are as good as ever.
                    recover(&class.bytes, ready.map(), tables, |_| true).unwrap_or_default()
                }
                _ => Vec::new(),
            })
            .collect();
        let mut prepared = Vec::with_capacity(classes.len());
        for (verdict, conditions) in verdicts.into_iter().zip(conditions) {
            // The first in order is reported, whichever processor came first.
            let (ready, skipped) = verdict.map_err(CliError::Failed)?;
            self.seen += 1;
            self.skipped.extend(skipped);
            let Some(ready) = ready else {
                prepared.push(None);
                continue;
            };
            let map = ready.map();
            self.taken += 1;
            self.methods += map.methods.len();
            self.guided += ready.guided();
            let slots = match ready.coverage() {
                Some(coverage) => coverage.layout().1,
                None => CounterLayout::of(map).slots,
            };
            let (ids, new) = self.ids.get(map, slots)?;
            if new {
                self.maps.add(map, &conditions).map_err(CliError::failed)?;
            }
            prepared.push(Some((ready, ids)));
        }
        let writes = self.writes;
        let emit = |(ready, (_, method)): (Option<Ready>, &(Found, u16))| match ready {
            None => Ok(Outcome::Left),
            Some(_) if !writes => Ok(Outcome::Counted),
            Some((ready, ids)) => Packed::new(ready.emit(ids), *method).map(Outcome::Written),
        };
        let emitted: Result<Vec<Outcome>, String> =
            prepared.into_par_iter().zip(&classes).map(emit).collect();
        emitted.map_err(CliError::Failed)
    }
}

fn prepare<'c>(instrumenter: &Instrumenter, class: &'c Found, policy: Policy) -> Verdict<'c> {
    let label = &class.label;
    let broken = |what: String| {
        if policy.skip_broken || policy.survey {
            Ok((
                None,
                vec![Skipped {
                    class: class.name.clone(),
                    method: None,
                    reason: format!("broken: {what}"),
                }],
            ))
        } else {
            Err(format!(
                "{label}: {what} (--skip-broken copies such class files, --exclude leaves them alone)"
            ))
        }
    };
    match instrumenter.prepare(&class.bytes) {
        Ok(Preparation::Ready(prepared)) => {
            let skipped = prepared.skipped().to_vec();
            Ok((Some(prepared), skipped))
        }
        Ok(Preparation::Unchanged { skipped }) => {
            let whole = skipped
                .iter()
                .find(|s| s.method.is_none())
                .map(|s| s.reason.as_str());
            match whole {
                Some(reason) if reason == SkipReason::AlreadyInstrumented.text() && !policy.survey => Err(
                    format!("{label}: is {reason}; take the original (or leave it alone by --exclude)"),
                ),
                Some(reason) if reason == SkipReason::UnknownVersion.text() => {
                    let major = u16::from_be_bytes([class.bytes[6], class.bytes[7]]);
                    broken(format!("{reason} (it is {major})"))
                }
                _ => Ok((None, skipped)),
            }
        }
        Err(error) => broken(format!("not a well-formed class file: {error}")),
    }
}

impl Ids {
    /// The ids of a class with this number of slots, and whether it came for the first time.
    fn get(&mut self, map: &ClassMap, slots: u32) -> Result<(ClassIds, bool), CliError> {
        if let Some(&ids) = self.of.get(&map.sha256) {
            return Ok((ids, false));
        }
        let limit = |next: Option<u32>, most: u32, what: &str| {
            next.filter(|&next| next <= most).ok_or_else(|| {
                CliError::Failed(format!(
                    "more than {most} {what} in one output: leave some classes alone, by --include or --exclude"
                ))
            })
        };
        let ids = ClassIds::new(self.counters, self.methods);
        let more = u32::try_from(map.methods.len()).ok();
        self.methods = limit(
            more.and_then(|more| self.methods.checked_add(more)),
            MAX_METHODS,
            "methods",
        )?;
        self.counters = limit(self.counters.checked_add(slots), MAX_SLOTS, "paths")?;
        self.of.insert(map.sha256, ids);
        Ok((ids, true))
    }
}
