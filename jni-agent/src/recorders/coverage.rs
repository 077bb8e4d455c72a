//! Marks of the code that ran at all (`profile=coverage`).

use std::collections::{BTreeMap, HashMap};

use trodden_instrumenter::MethodId;
use trodden_profile::{Covered, MethodCounts, MethodCovered};

use super::recorder::{BeginError, ReadError, Reading, Recorder, Totals, totals};
use crate::classes::{ClassEntry, Slots};
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::sampling::classes;
use crate::settings::Settings;
use crate::threads::Shim;

/// The shim keeps the marks.
pub struct Coverage;

impl Recorder for Coverage {
    fn check(&self, _: &Shim, _: &Settings) -> Result<(), BeginError> {
        Ok(())
    }

    fn keeps_counts(&self) -> Option<&'static str> {
        Some("coverage cannot be forgotten: what has run is not reported again")
    }

    fn reset(&self, _: &Host, _: &Shim, _: Jni<'_>) -> Result<(), JvmError> {
        Ok(())
    }

    fn totals(&self, reading: Reading<'_>) -> Result<Totals, ReadError> {
        let counted = classes(&reading.host.registry, |_, _| MethodCounts::default());
        let covered = covered(&reading, &counted.1)?;
        let mut totals = totals(reading.run, counted);
        totals.profile.coverage = Some(covered);
        Ok(totals)
    }
}

/// Marks of the code that ran, of classes whose first methods have these numbers.
fn covered(reading: &Reading<'_>, first_methods: &[MethodId]) -> Result<Covered, JvmError> {
    let registry = &reading.host.registry;
    let entries = registry
        .classes()
        .into_iter()
        .map(|entry| (entry.ids.first_method, entry));
    let entries: HashMap<MethodId, ClassEntry> = entries.collect();
    let passed = reading.shim.passed(reading.jni, registry.counters().0)?;
    let mut methods = BTreeMap::new();
    for (class, first_method) in (0u32..).zip(first_methods) {
        let Some(entry) = entries.get(first_method) else {
            continue;
        };
        let Slots::Coverage(coverage) = &entry.slots else {
            continue;
        };
        let firsts = coverage.layout().0;
        let plans = coverage.methods.iter().zip(firsts).zip(&entry.map.methods);
        for (method, ((plan, first), map)) in (0u32..).zip(plans) {
            let first = entry.ids.first_counter.plus(first);
            let ran = plan.ran(&map.graph, |probe| {
                passed.get(first.plus(probe).index()).copied().unwrap_or(false)
            });
            if ran.blocks.contains(&true) {
                methods.insert((class, method), MethodCovered::new(map, &ran));
            }
        }
    }
    Ok(Covered { methods })
}
