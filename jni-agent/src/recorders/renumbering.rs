//! Classes that are numbered again by the run's own counts, where probes stay.

use trodden_profile::{ClassProfile, Profile, facts, merge};

use super::recorder::{Moment, ReadError, Totals};
use crate::controller::Renumber;
use crate::jvm::JvmError;
use crate::log::warning;
use crate::settings::Settings;

/// Numbers classes again when it is time, once. `counts`: of all classes so far.
pub fn renumber_if_due(
    renumber: &mut Option<Renumber>,
    now: &Moment<'_>,
    counts: impl FnOnce() -> Result<Vec<ClassProfile>, JvmError>,
) {
    if let Some(renumber) = renumber.take_if(|renumber| renumber.is_due())
        && let Err(e) =
            counts().and_then(|classes| renumber.renumber(now.host, classes, now.settings, now.jni))
    {
        warning!("classes keep their path numbers: {e}");
    }
}

/// Makes one class of each that was numbered twice, with its counts before and after added up.
pub fn as_one(totals: Totals, settings: &Settings) -> Result<Totals, ReadError> {
    let Some(renumbered) = settings.renumbered.get() else {
        return Ok(totals);
    };
    let mut profile = totals.profile;
    let (classes, took) = renumbered.sent.get().copied().unwrap_or_default();
    profile.run.facts.set(facts::CLASSES_RENUMBERED, classes as u64);
    profile.run.facts.set(facts::RENUMBERING_MS, took);
    let twice = Profile {
        classes: std::mem::take(&mut profile.classes),
        ..Profile::default()
    };
    profile.classes = merge([&twice])?.classes;
    Ok(Totals {
        profile,
        // Their paths have other numbers now.
        first_methods: None,
    })
}
