//! What one run (or several merged ones) found.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::model::by_test::TestCounts;
use crate::model::conditions::Conditions;
use crate::model::contexts::Contexts;
use crate::model::counts::MethodCounts;
use crate::model::coverage::Covered;
use crate::model::cpu::CpuSamples;
use crate::model::facts::Facts;
use crate::model::hotspot::HotSpotMethod;
use crate::model::kpaths::KPaths;
use crate::model::map::ClassMap;
use crate::model::memory::Memory;
use crate::model::observations::Observation;
use crate::model::requests::Requests;
use crate::model::structural::Structural;
use crate::model::subpaths::Subpaths;
use crate::options::Probe;

/// Facts about the run that are needed to judge its numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunInfo {
    /// JVM name and version.
    pub jvm: String,
    /// The Java command line as the JVM reports it (`sun.java.command`), [without values](crate::without_values) unless
    /// `arguments=all` was given; or empty.
    pub command: String,
    /// When profiling started, milliseconds since 1970-01-01 UTC.
    pub started_ms: u64,
    /// Seconds profiled.
    pub seconds: f64,
    /// Probe strategy: `yieldpoint`, `counters`, `safepoint`, `events`, `structural`, `coverage`, `auto` (counters that
    /// are taken out again), or `none`.
    pub probe: String,
    /// Sampling schedule in option syntax (`sag:64:17`), if it samples.
    pub schedule: Option<String>,
    /// Sampling interval in nanoseconds, if it samples.
    pub interval_ns: Option<u64>,
    /// Was every path end counted?
    pub exact: bool,
    /// The agent's options as given.
    pub options: String,
    /// Version of Trodden that wrote the counts.
    pub version: String,
    /// Facts about the host and the recording: `os`, `cpus`, `ticks`, `samples`, `lost`, …
    pub facts: Facts,
}

impl RunInfo {
    /// Were path registers read from frames, and nothing counted? Then counts say where time went by, not how
    /// often something ran.
    pub fn has_readings_only(&self) -> bool {
        self.all_probes_are(&[Probe::Safepoint.name()])
    }

    /// Was nothing but CPU time measured? Then nothing is known of what ran. Merged profiles name each probe.
    pub fn has_time_only(&self) -> bool {
        self.all_probes_are(&[Probe::None.name()])
    }
}

/// A class and its methods' counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassProfile {
    /// The path map.
    pub map: Arc<ClassMap>,
    /// Parallel to the map's methods.
    pub counts: Vec<MethodCounts>,
}

/// A class, or a method, that was left unchanged, or ([`has_probes`](Self::has_probes)) whose probes report
/// less than others'.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Internal name, with slashes.
    pub class: String,
    /// Name and descriptor; `None` for the whole class.
    pub method: Option<String>,
    /// Why.
    pub reason: String,
}

impl Skipped {
    /// What the reason begins with if the method has probes, which do not report where its calls stand: it is
    /// in its callees' contexts, but their call sites in it are not known.
    pub const NO_CALL_SITES: &'static str = "without call sites: ";

    /// What the reason begins with if the method has probes, which do not count paths that an exception cuts
    /// off.
    pub const NO_CUT_PATHS: &'static str = "without cut paths: ";

    /// Does the method have probes, which report less than those of other methods?
    pub fn has_probes(&self) -> bool {
        let partly = [Self::NO_CALL_SITES, Self::NO_CUT_PATHS];
        self.method.is_some() && partly.iter().any(|what| self.reason.starts_with(what))
    }
}

/// A path profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// About the run.
    pub run: RunInfo,
    /// All classes that carry probes, by name, then hash; in path maps of `trodden instrument` as they are in
    /// its output.
    pub classes: Vec<ClassProfile>,
    /// Classes and methods that were left unchanged, or in part, sorted.
    pub skipped: Vec<Skipped>,
    /// Which paths followed which, if that was recorded.
    pub kpaths: Option<KPaths>,
    /// Which chains of calls occurred, if that was recorded.
    pub contexts: Option<Contexts>,
    /// Hot sequences of blocks across loops and calls, if they were sampled.
    pub subpaths: Option<Subpaths>,
    /// Methods that were counted for a part of the run only, in the order of classes and methods.
    pub observations: Vec<Observation>,
    /// What was counted of loops on their own, if that was asked for.
    pub structural: Option<Structural>,
    /// What branches decide, in the source's terms, for the methods of which it is known.
    pub conditions: Conditions,
    /// Where the CPU time went, if it was sampled.
    pub cpu: Option<CpuSamples>,
    /// Methods whose paths' shares were known, and the same in two parts of the run, by position of class and method.
    pub steady: BTreeSet<(u32, u32)>,
    /// What was counted during each test, by name, if the program said when tests end.
    pub by_test: Vec<TestCounts>,
    /// What ran at all, if that was recorded.
    pub coverage: Option<Covered>,
    /// What earlier runs found of methods that this one did not measure.
    pub memory: Option<Box<Memory>>,
    /// Methods without probes whose branches HotSpot counted itself, by class, name and descriptor.
    pub hotspot: Vec<HotSpotMethod>,
    /// Latencies of requests, and the paths of some, if requests were asked for.
    pub requests: Option<Requests>,
}

impl Profile {
    /// Classes and methods that have no probes, with their reasons.
    pub fn left_alone(&self) -> impl Iterator<Item = &Skipped> {
        self.skipped.iter().filter(|skipped| !skipped.has_probes())
    }

    /// Methods with a count of any kind, by position of class and method. Calling contexts count calls, no
    /// paths, so they are not asked.
    pub fn methods_that_ran(&self) -> HashSet<(usize, usize)> {
        let mut ran = HashSet::new();
        for (position, class) in self.classes.iter().enumerate() {
            let counted = |c: &MethodCounts| c.paths.values().chain(c.partial.values()).any(|&n| n > 0);
            let methods = class
                .counts
                .iter()
                .enumerate()
                .filter(|(_, counts)| counted(counts));
            ran.extend(methods.map(|(method, _)| (position, method)));
        }
        let covered = self.coverage.iter().flat_map(|coverage| coverage.methods.keys());
        ran.extend(covered.map(|&(class, method)| (class as usize, method as usize)));
        let forests = self.kpaths.iter().flat_map(|kpaths| &kpaths.methods);
        ran.extend(
            forests
                .filter(|(_, forest)| !forest.is_empty())
                .map(|(&place, _)| place),
        );
        let runs = self.subpaths.iter().flat_map(|about| &about.subpaths);
        ran.extend(
            runs.flat_map(|subpath| &subpath.runs)
                .map(|run| (run.class, run.method)),
        );
        ran
    }
}
