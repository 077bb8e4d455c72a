//! Counts of each test: a listener in the program says when tests begin and end, and what was counted
//! meanwhile is theirs.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

use trodden_instrumenter::{MethodId, ProbeKind};
use trodden_profile::{MethodCounts, MethodPart, TestCounts};

use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::locks::lock;
use crate::log::error;
use crate::sampling::{ExactCounts, Placement, add_counts};
use crate::session::by_thread::ByThread;

/// The counts of tests so far.
#[derive(Default)]
pub struct Marks {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// All that was counted before the last mark.
    last: ByThread,
    /// When the last mark was done.
    since: Option<Instant>,
    tests: BTreeMap<String, Test>,
}

#[derive(Default)]
struct Test {
    times: u64,
    operations: u64,
    max_growth: Option<String>,
    allocated: Option<u64>,
    nanos: Option<u64>,
    methods: BTreeMap<MethodId, MethodCounts>,
    /// Their part from threads that other tests may have as well.
    others: BTreeMap<MethodId, MethodCounts>,
}

/// The end of a test.
pub struct Mark {
    /// The test's name.
    pub name: String,
    /// Operations of a benchmark; 0 for a test.
    pub operations: u64,
    /// Bytes that its thread allocated, if that is known.
    pub allocated: Option<u64>,
    /// The growth that the test itself allows.
    pub max_growth: Option<String>,
}

impl Marks {
    /// Adds the counts since the last mark to a test.
    pub fn mark(&self, host: &Host, jni: Jni<'_>, mark: Mark) {
        if let Err(e) = self.add(host, jni, mark) {
            error!("what a test did is not known: {e}");
        }
    }

    fn add(&self, host: &Host, jni: Jni<'_>, mark: Mark) -> Result<(), JvmError> {
        let Some(shim) = host.shim_if_defined() else {
            return Ok(());
        };
        let counts =
            (host.active()).is_some_and(|settings| settings.probe == ProbeKind::Counters && !settings.ahead);
        if !counts {
            return Ok(());
        }
        let registry = &host.registry;
        let now = Instant::now();
        let mut inner = lock(&self.inner);
        let Inner { last, since, tests } = &mut *inner;
        let nanos = since.and_then(|since| u64::try_from(now.duration_since(since).as_nanos()).ok());
        let more = last.more(host, shim, jni)?;
        // A benchmark's iteration is what its threads do, which JMH keeps from one to the next.
        let by_others = more.by_others && mark.operations == 0;
        let test = tests.entry(mark.name).or_default();
        let first = test.times == 0;
        let sum = |sum: Option<u64>, more: Option<u64>| {
            if first {
                more
            } else {
                sum.zip(more).map(|(a, b)| a.saturating_add(b))
            }
        };
        test.allocated = sum(test.allocated, mark.allocated);
        test.nanos = sum(test.nanos, nanos);
        test.times += 1;
        test.operations = test.operations.saturating_add(mark.operations);
        test.max_growth = mark.max_growth.or(test.max_growth.take());
        for entry in registry.classes() {
            for method in 0..entry.map.methods.len() {
                let none = ExactCounts::default();
                let all = more.all.of_method(&none, &entry, method);
                if all.paths.is_empty() && all.partial.is_empty() {
                    continue;
                }
                let id = entry.ids.first_method.at(method);
                add_counts(test.methods.entry(id).or_default(), &all);
                if !by_others {
                    continue;
                }
                let others = more.others.of_method(&none, &entry, method);
                if !others.paths.is_empty() || !others.partial.is_empty() {
                    add_counts(test.others.entry(id).or_default(), &others);
                }
            }
        }
        *since = Some(Instant::now());
        Ok(())
    }

    /// Forgets all tests.
    pub fn reset(&self) {
        lock(&self.inner).tests.clear();
    }

    /// The counts for a profile with its methods in these places.
    pub fn of_profile(&self, places: &Placement) -> Vec<TestCounts> {
        let of_test = |(name, test): (&String, &Test)| TestCounts {
            name: name.clone(),
            times: test.times,
            operations: test.operations,
            max_growth: test.max_growth.clone(),
            allocated: test.allocated,
            nanos: test.nanos,
            methods: placed(&test.methods, places),
            others: placed(&test.others, places),
        };
        lock(&self.inner).tests.iter().map(of_test).collect()
    }
}

/// The methods that have a place in a profile, in its order.
fn placed(methods: &BTreeMap<MethodId, MethodCounts>, places: &Placement) -> Vec<MethodPart> {
    let placed = methods.iter().filter_map(|(id, counts)| {
        let (class, method) = places.of(*id)?;
        let counts = counts.clone();
        Some(MethodPart {
            class,
            method,
            counts,
        })
    });
    let mut methods: Vec<MethodPart> = placed.collect();
    methods.sort_by_key(|one| (one.class, one.method));
    methods
}
