//! Rows of many windows, by service, build and day; sums over them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trodden_profile::Key;

use super::extract::{Extract, PathRow, WindowRow};
use super::requests::{Band, BandSum, Taken, TakenSum};
use super::signatures::Signature;
use crate::log::{Day, Windows};

/// A service's build.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Build {
    pub service: String,
    pub build: String,
}

/// Rows that are to be written together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub groups: BTreeMap<(Build, Day), Group>,
    pub windows: Windows,
    /// About how many bytes it takes.
    pub weight: usize,
}

/// Rows of one service, build and day.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub windows: Vec<WindowRow>,
    /// With the position of the window.
    pub paths: Vec<(u32, PathRow)>,
    pub edges: FxHashMap<(Signature, Key, Key), EdgeSum>,
    pub methods: FxHashMap<Signature, MethodSum>,
    pub contexts: FxHashMap<Key, ContextSum>,
    /// With the host.
    pub requests: FxHashMap<(Arc<str>, Band), BandSum>,
    pub taken: FxHashMap<(Arc<str>, Taken), TakenSum>,
}

/// How often an edge was followed, if it was counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeSum {
    pub count: Option<u64>,
    pub exact: bool,
}

/// Work of a method.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MethodSum {
    pub paths: u64,
    pub decisions: u64,
    pub cpu: Option<(u64, u64)>,
}

/// A context, and how often it was entered.
#[derive(Clone, Debug)]
pub(crate) struct ContextSum {
    pub caller: Option<Key>,
    pub signature: Signature,
    pub site: Option<u16>,
    pub along: Option<Key>,
    pub depth: u32,
    /// The methods, innermost first, up to the limit.
    pub chain: Arc<[Signature]>,
    pub count: u64,
    pub exact: bool,
}

/// A count with its error, over several windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountSum {
    pub count: u64,
    pub exact: bool,
    /// Sum of the squares of the errors, in counts.
    variance: Option<f64>,
}

impl CountSum {
    pub fn of(row: &PathRow) -> Self {
        CountSum {
            count: row.count,
            exact: row.exact,
            variance: row.error.map(|error| (error * row.count as f64).powi(2)),
        }
    }

    pub fn add(&mut self, row: &PathRow) {
        let other = CountSum::of(row);
        self.count = self.count.saturating_add(other.count);
        self.exact &= other.exact;
        self.variance = self.variance.zip(other.variance).map(|(a, b)| a + b);
    }

    pub fn error(&self) -> Option<f64> {
        self.variance.map(|variance| match self.count {
            0 => 0.0,
            count => variance.sqrt() / count as f64,
        })
    }
}

/// Maximum number of methods of a chain that are stored: deeper ones end with `…`.
pub(crate) const CHAIN: usize = 64;

impl Batch {
    /// Takes in a profile's rows. Its window must be new.
    pub fn add(&mut self, extract: Extract) {
        let about = &extract.window.about;
        self.windows.insert(&about.jvm, about.window);
        let key = Build {
            service: about.service.clone(),
            build: about.build.clone(),
        };
        let group = self.groups.entry((key, about.day())).or_default();
        let before = group.weight();
        let window = group.windows.len() as u32;
        group
            .paths
            .extend(extract.paths.into_iter().map(|row| (window, row)));
        for row in extract.edges {
            let more = EdgeSum {
                count: row.count,
                exact: row.exact,
            };
            let sum = group.edges.entry((row.signature, row.graph, row.edge));
            sum.and_modify(|sum| {
                sum.count = plus(sum.count, more.count);
                sum.exact &= more.exact;
            })
            .or_insert(more);
        }
        for row in extract.methods {
            let sum = group.methods.entry(row.signature).or_default();
            sum.paths = sum.paths.saturating_add(row.paths);
            sum.decisions = sum.decisions.saturating_add(row.decisions);
            sum.cpu = match (sum.cpu, row.cpu) {
                (Some(a), Some(b)) => Some((a.0.saturating_add(b.0), a.1.saturating_add(b.1))),
                (a, b) => a.or(b),
            };
        }
        let contexts = &extract.contexts;
        for row in contexts {
            let known = group.contexts.get_mut(&row.context);
            if let Some(sum) = known {
                sum.count = sum.count.saturating_add(row.count);
                sum.exact &= row.exact;
                continue;
            }
            let callers = std::iter::successors(Some(row), |row| Some(&contexts[row.parent? as usize]));
            let chain: Arc<[Signature]> = callers.take(CHAIN + 1).map(|row| row.signature).collect();
            let sum = ContextSum {
                caller: row.parent.map(|parent| contexts[parent as usize].context),
                signature: row.signature,
                site: row.site,
                along: row.along,
                depth: row.depth,
                chain,
                count: row.count,
                exact: row.exact,
            };
            group.contexts.insert(row.context, sum);
        }
        let host: Arc<str> = extract.window.about.host.as_str().into();
        for (band, more) in extract.requests.bands {
            let of = (Arc::clone(&host), band);
            group.requests.entry(of).or_default().add(&more);
        }
        for (taken, more) in extract.requests.taken {
            let of = (Arc::clone(&host), taken);
            group.taken.entry(of).or_default().add(&more);
        }
        group.windows.push(extract.window);
        self.weight += group.weight() - before;
    }

    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

impl Group {
    fn weight(&self) -> usize {
        let contexts = self.contexts.len() * (size_of::<ContextSum>() + 16 + 4 * CHAIN / 4);
        self.windows.len() * 600
            + self.paths.len() * size_of::<(u32, PathRow)>()
            + self.edges.len() * 2 * size_of::<((Signature, Key, Key), EdgeSum)>()
            + self.methods.len() * 2 * size_of::<(Signature, MethodSum)>()
            + contexts
            + self.requests.len() * 2 * size_of::<((Arc<str>, Band), BandSum)>()
            + self.taken.len() * 2 * size_of::<((Arc<str>, Taken), TakenSum)>()
    }
}

/// An unknown value adds nothing; the sum shows it by not being exact.
fn plus(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}
