//! The paths that samples were on: known where a sample waited for the path to end.

use std::collections::BTreeMap;

use super::CpuTime;

/// A frame's method, a place in it (bytecode index) and the number of the path that the thread was on there, or
/// [`CUT_OFF`]; `None`: it waited for the path end, and did not see which it was.
pub type PathAtPlace = (u32, Option<u16>, Option<u64>);

/// In place of a path's number: an exception ended the method before the path came to its end. No path has this number.
pub const CUT_OFF: u64 = u64::MAX;

/// Time by path, of samples whose path end was seen: of the innermost method on the stack that counts, and of some of its
/// callers, each at its innermost call. Nanoseconds are scaled to all samples of the place, so they are an estimate of its
/// time. Where samples represent unequal times, their number is that of equal ones that would be as certain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathsAtPlaces(BTreeMap<PathAtPlace, CpuTime>);

/// The outcome for samples that waited for a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathWaits {
    /// For the innermost method that counts.
    pub innermost: WaitsOf,
    /// For its callers.
    pub callers: WaitsOf,
}

/// The outcome for samples that waited for a path of one of their methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitsOf {
    /// All of them.
    pub asked: CpuTime,
    /// Their path is known.
    pub answered: CpuTime,
    /// More than one path of the method ended before it could be seen which was the first.
    pub missed: CpuTime,
    /// The method was left by an exception.
    pub gone: CpuTime,
    /// The thread ended.
    pub dropped: CpuTime,
}

impl PathWaits {
    /// Those of the innermost method, or of callers.
    pub fn of(&mut self, innermost: bool) -> &mut WaitsOf {
        if innermost {
            &mut self.innermost
        } else {
            &mut self.callers
        }
    }

    fn fields(&mut self) -> [&mut CpuTime; 10] {
        let [a, b, c, d, e] = self.innermost.fields();
        let [f, g, h, i, j] = self.callers.fields();
        [a, b, c, d, e, f, g, h, i, j]
    }

    /// All sums, in the order of files.
    pub(super) fn times(mut self) -> [CpuTime; 10] {
        self.fields().map(|time| *time)
    }

    /// From all sums, in the order of files.
    pub(super) fn from_times(times: [CpuTime; 10]) -> Self {
        let mut waits = PathWaits::default();
        for (field, time) in waits.fields().into_iter().zip(times) {
            *field = time;
        }
        waits
    }

    /// The sums of both.
    pub(super) fn plus(self, other: Self) -> Self {
        self.each(other, CpuTime::plus)
    }

    /// The sums after those of an earlier reading.
    pub(super) fn since(self, earlier: Self) -> Self {
        self.each(earlier, CpuTime::less)
    }

    fn each(self, other: Self, combine: impl Fn(CpuTime, CpuTime) -> CpuTime) -> Self {
        let mut times = self.times();
        for (time, other) in times.iter_mut().zip(other.times()) {
            *time = combine(*time, other);
        }
        Self::from_times(times)
    }
}

impl WaitsOf {
    fn fields(&mut self) -> [&mut CpuTime; 5] {
        [
            &mut self.asked,
            &mut self.answered,
            &mut self.missed,
            &mut self.gone,
            &mut self.dropped,
        ]
    }
}

/// Samples that may represent unequal times.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnequalSamples {
    ns: f64,
    /// Sum of the squares of what each sample represents, in ns².
    squares: f64,
}

impl UnequalSamples {
    /// Adds a number of samples, which represent that time together.
    pub fn add(&mut self, samples: u64, ns: f64) {
        self.ns += ns;
        self.squares += ns * ns / samples.max(1) as f64;
    }

    /// The time of all, in nanoseconds.
    pub fn ns(&self) -> f64 {
        self.ns
    }

    /// The number of samples that would be as certain if each represented the same time (Kish, "Survey Sampling", 1965).
    pub fn number(&self) -> u64 {
        (self.ns * self.ns / self.squares.max(1.0)).round() as u64
    }
}

impl PathsAtPlaces {
    /// Adds time of a path at a place.
    pub fn add(&mut self, at: PathAtPlace, time: CpuTime) {
        let sum = self.0.entry(at).or_default();
        *sum = sum.plus(time);
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (PathAtPlace, CpuTime)> + '_ {
        self.0.iter().map(|(&at, &time)| (at, time))
    }

    /// Without what was there before.
    #[must_use]
    pub(super) fn less(&self, before: &Self) -> Self {
        let less = |(at, time): (PathAtPlace, CpuTime)| {
            let before = before.0.get(&at).copied().unwrap_or_default();
            (at, time.less(before))
        };
        PathsAtPlaces(
            self.iter()
                .map(less)
                .filter(|(_, time)| !time.is_none())
                .collect(),
        )
    }

    /// Those of a frame: place, path and time.
    pub fn of_frame(&self, frame: u32) -> impl Iterator<Item = ((Option<u16>, Option<u64>), CpuTime)> + '_ {
        let all = self
            .0
            .range((frame, None, None)..=(frame, Some(u16::MAX), Some(u64::MAX)));
        all.map(|(&(_, bci, path), &time)| ((bci, path), time))
    }

    /// The last of them.
    pub(super) fn last(&self) -> Option<PathAtPlace> {
        self.0.last_key_value().map(|(&at, _)| at)
    }

    /// Returns true if nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// With other numbers for frames; those without one are left out.
    #[must_use]
    pub fn with_frames(&self, number: impl Fn(u32) -> Option<u32>) -> Self {
        let mut renumbered = PathsAtPlaces::default();
        for ((frame, bci, path), time) in self.iter() {
            if let Some(frame) = number(frame) {
                renumbered.add((frame, bci, path), time);
            }
        }
        renumbered
    }
}
