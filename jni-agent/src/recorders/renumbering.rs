//! Classes that are numbered again by the run's own counts, where probes stay.

use trodden_profile::{ClassProfile, Profile, facts, merge};

use super::recorder::{ReadError, Totals};
use crate::controller::Renumber;
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::log::warning;
use crate::settings::Settings;

/// Numbers classes again when it is time, once.
pub struct Renumbering(Option<Renumber>);

impl Renumbering {
    /// From now on, if the options want that.
    pub fn new(settings: &Settings) -> Self {
        Renumbering(settings.options.renumber_after().map(Renumber::after))
    }

    /// A tick of the clock. `counts`: of all classes so far.
    pub fn tick(
        &mut self,
        host: &Host,
        settings: &Settings,
        jni: Jni<'_>,
        counts: impl FnOnce() -> Result<Vec<ClassProfile>, JvmError>,
    ) {
        if self.0.as_ref().is_some_and(Renumber::is_due)
            && let Some(renumber) = self.0.take()
            && let Err(e) = counts().and_then(|classes| renumber.renumber(host, classes, settings, jni))
        {
            warning!("classes keep their path numbers: {e}");
        }
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
    let once = merge([&twice]).map_err(|e| ReadError::Analysis(e.to_string()))?;
    profile.classes = once.classes;
    Ok(Totals {
        profile,
        // Their paths have other numbers now.
        first_methods: None,
    })
}
