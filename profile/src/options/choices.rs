//! The values of all options.

use std::collections::BTreeSet;

use super::code::CodeChoices;
use super::contexts::ContextChoices;
use super::fleet::FleetChoices;
use super::kpaths::KPathsChoices;
use super::output::OutputChoices;
use super::sampling::SamplingChoices;
use super::structural::{RetiringChoices, StructuralChoices};
use super::subpaths::SubpathChoices;
use super::values::{Burst, CoverageOf, Probe, ProfileKind};

/// All options, by what they are about. [`Default`] gives the documented defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileOptions {
    /// The kinds of profile.
    pub profile: Vec<ProfileKind>,
    /// Extent of profile `coverage`; `paths` makes it profile `paths`, counted.
    pub coverage: CoverageOf,
    /// How path ends are observed; see [`Probe::resolved`].
    pub probe: Probe,
    /// Where the rotation of strides begins; seed of whatever is random.
    pub seed: u64,
    /// Which code carries probes, and which.
    pub code: CodeChoices,
    /// Files and messages.
    pub output: OutputChoices,
    /// Windows, and which JVMs write them.
    pub fleet: FleetChoices,
    /// Probes that sample by the clock.
    pub sampling: SamplingChoices,
    /// Probes that are taken out once enough is known.
    pub retiring: RetiringChoices,
    /// Which part of the event stream is seen.
    pub burst: Burst,
    /// Profile `kpaths`.
    pub kpaths: KPathsChoices,
    /// Profile `contexts`.
    pub contexts: ContextChoices,
    /// Profile `subpaths`.
    pub subpaths: SubpathChoices,
    /// Profile `structural`.
    pub structural: StructuralChoices,
    /// Names that were given explicitly.
    pub(super) given: BTreeSet<&'static str>,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        ProfileOptions {
            profile: vec![ProfileKind::Paths],
            coverage: CoverageOf::Branches,
            probe: Probe::Auto,
            seed: 0,
            code: CodeChoices::default(),
            output: OutputChoices::default(),
            fleet: FleetChoices::default(),
            sampling: SamplingChoices::default(),
            retiring: RetiringChoices::default(),
            burst: Burst::Off,
            kpaths: KPathsChoices::default(),
            contexts: ContextChoices::default(),
            subpaths: SubpathChoices::default(),
            structural: StructuralChoices::default(),
            given: BTreeSet::new(),
        }
    }
}

impl ProfileOptions {
    /// Was this option given, rather than left at its default?
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains(name)
    }
}
