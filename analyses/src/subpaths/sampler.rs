//! Skip and sample: the profiler of one thread (OSP sections 2.1 and 2.3).

use std::collections::VecDeque;
use std::sync::Arc;

use trodden_profile::options::SubpathStarts;

use super::draws::Draws;
use super::identity::identity;
use super::lengths::{MAGNITUDES, magnitude};
use super::options::{ENOUGH, PLENTIFUL_SAMPLES_PER_BYTE, Rates, SubpathOptions};
use super::order::BlockStream;
use super::runs::{self, Run};
use super::sample::{ConciseSample, Full, Sampled};
use super::shapes::PathShapes;
use super::skipping::{self, Picker, Wanted};
use super::window::Window;

/// A sample that is being taken.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Position of its first block.
    begin: u64,
    length: u32,
    /// True if it counts as one that begins at a loop's header.
    header: bool,
    /// When it began, by the [clock](Sampler::clock).
    stamp: u64,
}

impl Open {
    fn end(&self) -> u64 {
        self.begin + u64::from(self.length)
    }
}

/// Samples the subpaths of one thread.
///
/// **What is sampled.** At each block of the stream a subpath of each length begins. The one of length `l` is
/// taken with probability `P(l) / f`, independently: samples may overlap, unlike in OSP's figure 3, where
/// nothing begins while a sample is being taken. So a subpath that follows another closely is as likely as
/// any other, and a count in the sample is exactly binomial.
///
/// **Skipping.** Where the next sample begins is drawn in advance. A path that ends before is passed over as
/// a whole, by one addition; nothing is known of its blocks.
///
/// **Resampling.** `f` only grows: up to the floor of the options, and beyond it when there are
/// [`PLENTIFUL_SAMPLES_PER_BYTE`] of samples. Then each element of the sample, and each one that is just
/// being taken, stays with probability `f / f'`, and the next beginning is drawn again. `f'` is determined
/// before chance decides which stay, hence each step leaves the expectation of count times `f` where it was:
/// estimates are unbiased at any time, however `f` got there.
///
/// **The footprint is shared out.** When the sample does not fit its footprint any more, only the lengths
/// that take most of it are resampled: each magnitude of lengths has a distance of its own, of which `f` is
/// the smallest. A sample that begins with such a length is taken with the probability that its distance
/// leaves. Else the long subpaths, most of which come once, would push out the short ones, which gain most
/// from a concise sample.
#[derive(Clone, Debug)]
pub struct Sampler {
    options: Arc<SubpathOptions>,
    draws: Draws,
    f: u64,
    /// The distances of lengths, by magnitude: at least `f`.
    apart: [u64; MAGNITUDES],
    /// Samples begun so far, taken or not, each for its share in what would be there had all been begun at
    /// this `f`.
    begun: u64,
    /// Blocks so far.
    position: u64,
    /// Up to here nothing happens but that blocks are passed.
    quiet: u64,
    /// Where the next sample begins that may begin anywhere.
    next: u64,
    /// Loop headers before the next sample that begins at one for the sake of it.
    headers_left: u64,
    open: Vec<Open>,
    /// The first position at which one of these ends.
    due: u64,
    window: Window,
    sample: ConciseSample,
    /// Where counts are next halved.
    ageing: u64,
    tally: SamplerTally,
    /// Blocks, and those from this position on are not in it yet.
    blocks: (f64, u64),
    headers: f64,
    /// With a window of loop headers: how many there had been at some times.
    marks: VecDeque<(u64, f64)>,
    /// If path ends are left out that it can do without.
    picker: Option<Picker>,
    scratch: Scratch,
}

/// Buffers, kept for their memory.
#[derive(Clone, Debug, Default)]
struct Scratch {
    runs: Vec<Run>,
    path: Vec<u32>,
    blocks: Vec<u64>,
}

/// Counts of a sampler's steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SamplerTally {
    /// Samples taken to the end, also those that left the sample afterwards.
    pub drawn: u64,
    /// Their blocks: those that the sampling phases looked at.
    pub drawn_blocks: u64,
    /// How many times a distance was raised: `f`, or that of some lengths.
    pub raised: u64,
    /// Samples that were given up because events were missing.
    pub abandoned: u64,
}

impl Sampler {
    /// A sampler. `number` distinguishes it from others with the same seed; `f` is its mean distance between
    /// samples at first.
    pub fn new(options: Arc<SubpathOptions>, number: u64, f: u32) -> Self {
        let mut sampler = Sampler {
            draws: Draws::new(options.seed, number),
            f: u64::from(f.max(1)),
            apart: [u64::from(f.max(1)); MAGNITUDES],
            begun: 0,
            position: 0,
            quiet: 0,
            next: 0,
            headers_left: 0,
            open: Vec::new(),
            due: u64::MAX,
            window: Window::default(),
            sample: match options.window {
                Some(_) => ConciseSample::windowed(options.footprint),
                None => ConciseSample::new(options.footprint),
            },
            ageing: options.half_life.unwrap_or(u64::MAX),
            tally: SamplerTally::default(),
            blocks: (0.0, 0),
            headers: 0.0,
            marks: VecDeque::new(),
            picker: None,
            scratch: Scratch::default(),
            options,
        };
        sampler.draw_beginnings();
        sampler.rest();
        sampler
    }

    /// A sampler for a stream without the path ends that [`wanted`](Self::wanted) leaves out. A half-life is
    /// in estimated blocks then.
    pub fn skipping(options: Arc<SubpathOptions>, number: u64, f: u32) -> Self {
        let mut sampler = Sampler::new(options, number, f);
        sampler.f = Picker::distance(sampler.f);
        sampler.apart = [sampler.f; MAGNITUDES];
        let starts = sampler.options.starts;
        sampler.picker = Some(Picker::new(starts, &mut sampler.draws, sampler.f));
        sampler.rest();
        sampler
    }

    /// The path ends that the stream is to have from here on. To be asked for after each batch, and obeyed.
    pub fn wanted(&mut self) -> Wanted {
        let ends = self.open.iter().map(Open::end).max();
        let lacking = ends.map_or(0, |end| end - self.position);
        match &mut self.picker {
            Some(picker) => picker.wanted(lacking),
            None => Wanted::ALL,
        }
    }

    /// The mean distance between samples, now: of those lengths that begin most often for their probability.
    pub fn f(&self) -> u64 {
        self.f
    }

    /// The mean distance between samples, if all were of lengths like this one: a subpath in the sample
    /// represents that number of them, divided by the probability of its length.
    pub fn distance(&self, length: u32) -> u64 {
        self.apart[magnitude(length)]
    }

    /// The smallest and the largest of these distances.
    pub fn distances(&self) -> (u64, u64) {
        let (mut least, mut most) = (u64::MAX, self.f);
        for at in self.options.lengths.magnitudes() {
            least = least.min(self.apart[at]);
            most = most.max(self.apart[at]);
        }
        (least.min(most), most)
    }

    /// Returns true if any block has come.
    pub fn has_run(&self) -> bool {
        self.position > 0
    }

    /// Blocks so far (with ageing, old ones count less); an estimate, if path ends are left out.
    pub fn blocks(&self) -> f64 {
        let all = match &self.picker {
            Some(picker) => picker.blocks,
            None => self.blocks.0 + (self.position - self.blocks.1) as f64,
        };
        self.options.window.map_or(all, |window| all.min(window as f64))
    }

    /// Places where a subpath might have begun: blocks, or loop headers if only those count.
    pub fn places(&self) -> f64 {
        match self.options.starts {
            SubpathStarts::Headers => self.all_headers() - self.headers_before(self.horizon()),
            _ => self.blocks(),
        }
    }

    fn all_headers(&self) -> f64 {
        self.picker.as_ref().map_or(self.headers, |picker| picker.headers)
    }

    /// The time before which beginnings do not count.
    fn horizon(&self) -> u64 {
        let window = self.options.window.unwrap_or(u64::MAX);
        self.clock().saturating_sub(window)
    }

    /// How many loop headers there had been by then, in proportion between two marks.
    fn headers_before(&self, time: u64) -> f64 {
        let next = self.marks.partition_point(|mark| mark.0 <= time);
        let now = (self.clock(), self.all_headers());
        let after = self.marks.get(next).copied().unwrap_or(now);
        match next.checked_sub(1).map(|at| self.marks[at]) {
            Some(before) if after.0 > before.0 => {
                let share = (time - before.0) as f64 / (after.0 - before.0) as f64;
                before.1 + share * (after.1 - before.1)
            }
            Some(before) => before.1,
            None => 0.0,
        }
    }

    /// Remembers how many loop headers there were, 64 times per window.
    fn mark(&mut self, window: u64) {
        let (now, headers, horizon) = (self.clock(), self.all_headers(), self.horizon());
        let due = self.marks.back().is_none_or(|last| now - last.0 > window / 64);
        if due {
            self.marks.push_back((now, headers));
        }
        while self.marks.get(1).is_some_and(|second| second.0 <= horizon) {
            self.marks.pop_front();
        }
    }

    /// Counts of its steps.
    pub fn tally(&self) -> SamplerTally {
        self.tally
    }

    /// Number of subpaths in the sample, with and without repetitions.
    pub fn sampled(&self) -> (u64, u64) {
        match self.options.window {
            Some(_) => self.sample().fold((0, 0), |(all, distinct), found| {
                (
                    all + u64::from(found.elsewhere) + u64::from(found.header),
                    distinct + 1,
                )
            }),
            None => (self.sample.total(), self.sample.distinct() as u64),
        }
    }

    /// Bytes of the sample now and at most, which the footprint bounds; and of what else it needs.
    pub fn bytes(&self) -> (usize, usize, usize) {
        let scratch = &self.scratch;
        let more = self.window.bytes()
            + self.open.capacity() * size_of::<Open>()
            + scratch.runs.capacity() * size_of::<Run>()
            + scratch.path.capacity() * 4
            + scratch.blocks.capacity() * 8;
        (self.sample.bytes(), self.sample.peak(), more)
    }

    /// The options.
    pub fn options(&self) -> &SubpathOptions {
        &self.options
    }

    /// Forgets what was sampled, and continues.
    pub fn reset(&mut self) {
        self.sample.clear();
        self.open.clear();
        self.tally = SamplerTally::default();
        self.begun = 0;
        self.blocks = (0.0, self.position);
        self.headers = 0.0;
        self.marks.clear();
        if let Some(picker) = &mut self.picker {
            (picker.blocks, picker.headers) = (0.0, 0.0);
        }
        self.rest();
    }

    pub(super) fn sample(&self) -> impl Iterator<Item = Sampled<'_>> {
        self.sample.since(self.horizon())
    }

    fn once(&mut self, shapes: &impl PathShapes, run: Run, header: bool) {
        let (begin, end) = (self.position, self.position + u64::from(run.blocks));
        let idle = self.open.is_empty();
        let rates = self.options.rates(self.f);
        // One count will do where it makes no difference.
        let apart = header && rates.header != rates.elsewhere;
        while self.next < end {
            self.begin(self.next, self.next, apart && self.next == begin);
            let gap = self.draws.gap(rates.elsewhere);
            self.next = self.next.saturating_add(1).saturating_add(gap);
        }
        if header {
            self.headers += 1.0;
            match self.headers_left.checked_sub(1) {
                Some(left) => self.headers_left = left,
                None => {
                    self.begin(begin, begin, true);
                    self.headers_left = self.draws.gap(rates.header - rates.elsewhere);
                }
            }
        }
        self.pass(shapes, run, idle);
    }

    /// A path end of a stream from which others were left out.
    fn picked(&mut self, shapes: &impl PathShapes, run: Run, header: bool) {
        let idle = self.open.is_empty();
        let before = self.clock();
        let Some(picker) = &mut self.picker else { return };
        if let Some(chances) = picker.path(&mut self.draws, self.f, run.blocks, header) {
            // Those that begin at headers count apart where that makes a difference.
            let apart = header && self.options.starts != SubpathStarts::Anywhere;
            for part in (0..run.blocks).step_by(skipping::BLOCKS as usize) {
                if chances.anywhere < 1.0 && !self.draws.chance(chances.anywhere) {
                    continue;
                }
                let block = part + self.draws.below(skipping::BLOCKS);
                if block < run.blocks {
                    let at = self.position + u64::from(block);
                    self.begin(at, before + u64::from(block), apart && block == 0);
                }
            }
            if header && chances.header > 0.0 && self.draws.chance(chances.header) {
                self.begin(self.position, before, true);
            }
        }
        self.pass(shapes, run, idle);
    }

    /// Continues behind a run. `idle`: no sample was being taken before it.
    fn pass(&mut self, shapes: &impl PathShapes, run: Run, idle: bool) {
        if !self.open.is_empty() {
            if idle {
                self.window.restart(self.position);
            }
            self.window.push(run);
        }
        self.position += run.total();
        if self.position >= self.due {
            self.finish(shapes);
        }
        if self.clock() >= self.ageing {
            self.age();
        }
        if let (Some(window), SubpathStarts::Headers) = (self.options.window, self.options.starts) {
            self.mark(window);
        }
        self.rest();
    }

    fn begin(&mut self, at: u64, stamp: u64, header: bool) {
        let length = self.options.lengths.draw(&mut self.draws);
        self.begun += 1;
        let apart = self.apart[magnitude(length)];
        if apart > self.f {
            let keep = self.options.rates(apart).keep(self.options.rates(self.f));
            if !self.draws.chance(keep.get(header)) {
                return;
            }
        }
        let open = Open {
            begin: at,
            length,
            header,
            stamp,
        };
        self.due = self.due.min(open.end());
        self.open.push(open);
    }

    /// Sees up to where nothing happens.
    fn rest(&mut self) {
        let busy =
            !self.open.is_empty() || self.picker.is_some() || self.options.starts != SubpathStarts::Anywhere;
        self.quiet = if busy { 0 } else { self.next.min(self.ageing - 1) };
    }

    /// Puts finished samples into the sample.
    fn finish(&mut self, shapes: &impl PathShapes) {
        // Raising f may remove some that were next.
        while let Some(at) = self.open.iter().position(|open| open.end() <= self.position) {
            let open = self.open.remove(at);
            self.take(shapes, open);
        }
        self.due = self.open.iter().map(Open::end).min().unwrap_or(u64::MAX);
        if let Some(first) = self.open.iter().map(|open| open.begin).min() {
            self.window.trim(first);
        }
    }

    fn take(&mut self, shapes: &impl PathShapes, open: Open) {
        let Scratch { runs, path, blocks } = &mut self.scratch;
        runs.clear();
        blocks.clear();
        self.window.cut(open.begin, open.length, runs);
        for run in runs.iter() {
            path.clear();
            shapes.blocks(run.method, run.path, run.from, run.blocks, path);
            let ids = path
                .iter()
                .map(|&block| u64::from(run.method) << 32 | u64::from(block));
            let begin = blocks.len();
            blocks.extend(ids);
            let end = blocks.len();
            (1..run.times).for_each(|_| blocks.extend_from_within(begin..end));
        }
        self.tally.drawn += 1;
        self.tally.drawn_blocks += u64::from(open.length);
        let key = identity(self.options.identity, &self.scratch.blocks);
        let limit = self.sample.text_limit();
        let horizon = self.horizon();
        self.sample.expire(horizon);
        loop {
            let runs = &self.scratch.runs;
            let pack = |out: &mut Vec<u8>| runs::pack(open.length, runs, limit, out);
            if self.sample.add(key, open.length, open.header, open.stamp, pack) != Err(Full) {
                break;
            }
            if self.options.window.is_some() && self.sample.sweep() {
                continue;
            }
            let (at, keep) = self.make_room();
            // The one at hand is an element of the sample like the others.
            if at == magnitude(open.length) && !self.draws.chance(keep.get(open.header)) {
                break;
            }
        }
        let floor = match self.picker {
            Some(_) => u64::from(self.options.skipping_floor),
            None => u64::from(self.options.floor),
        };
        // Or if the footprint is too small for them: beginning them costs all the same.
        let enough = self.sample.total() >= ENOUGH || self.begun >= 2 * ENOUGH;
        if self.f < floor && enough {
            self.raise(floor.min(2 * self.f));
        } else if self.sample.total() >= PLENTIFUL_SAMPLES_PER_BYTE * self.options.footprint as u64 {
            self.raise(2 * self.f);
        }
    }

    /// From now on no distance is below this.
    fn raise(&mut self, f: u64) {
        let f = if self.picker.is_some() {
            Picker::distance(f)
        } else {
            f
        };
        let now = self.options.rates(f);
        let keep = self
            .apart
            .map(|apart| (apart < f).then(|| now.keep(self.options.rates(apart))));
        self.begun = self.begun * self.f / f;
        self.f = f;
        self.apart = self.apart.map(|apart| apart.max(f));
        self.tally.raised += 1;
        self.thin(|at| keep[at]);
        self.draw_beginnings();
    }

    /// Resamples the lengths that take most of the footprint. Returns their magnitude and the shares that
    /// stay.
    fn make_room(&mut self) -> (usize, Rates) {
        let at = self.sample.heaviest();
        let before = self.apart[at];
        // By an eighth: large enough to make room for many, small enough to keep most.
        let after = before + before.div_ceil(8);
        let keep = self.options.rates(after).keep(self.options.rates(before));
        self.apart[at] = after;
        self.tally.raised += 1;
        self.thin(|other| (other == at).then_some(keep));
        // What no length wants need not begin.
        let least = self.options.lengths.magnitudes().map(|at| self.apart[at]).min();
        let least = least.unwrap_or(after);
        let f = if self.picker.is_some() {
            Picker::at_most(least)
        } else {
            least
        };
        if f > self.f {
            self.begun = self.begun * self.f / f;
            self.f = f;
            self.draw_beginnings();
        }
        (at, keep)
    }

    /// Each sample stays with these probabilities, by the magnitude of its length; all stay where there are
    /// none.
    fn thin(&mut self, keep: impl Fn(usize) -> Option<Rates>) {
        let Sampler {
            sample, draws, open, ..
        } = self;
        sample.thin(draws, &keep);
        open.retain(|open| match keep(magnitude(open.length)) {
            Some(keep) => draws.chance(keep.get(open.header)),
            None => true,
        });
    }

    /// Draws where samples begin from here on. (Gaps have no memory: what was passed already does not
    /// matter.)
    fn draw_beginnings(&mut self) {
        let rates = self.options.rates(self.f);
        self.next = self.position.saturating_add(self.draws.gap(rates.elsewhere));
        self.headers_left = self.draws.gap(rates.header - rates.elsewhere);
        if let Some(picker) = &mut self.picker {
            picker.draw(&mut self.draws, self.f);
        }
    }

    /// Blocks executed, by which counts age: an estimate, if path ends are left out.
    fn clock(&self) -> u64 {
        self.picker
            .as_ref()
            .map_or(self.position, |picker| picker.passed as u64)
    }

    fn age(&mut self) {
        let half = Rates {
            elsewhere: 0.5,
            header: 0.5,
        };
        while let Some(life) = self.options.half_life
            && self.clock() >= self.ageing
        {
            self.thin(|_| Some(half));
            self.begun /= 2;
            match &mut self.picker {
                Some(picker) => {
                    picker.blocks /= 2.0;
                    picker.headers /= 2.0;
                }
                None => {
                    self.blocks = (self.blocks() / 2.0, self.position);
                    self.headers /= 2.0;
                }
            }
            self.ageing = self.ageing.saturating_add(life);
        }
        self.due = self.open.iter().map(Open::end).min().unwrap_or(u64::MAX);
    }
}

impl BlockStream for Sampler {
    #[inline]
    fn run(&mut self, shapes: &impl PathShapes, run: Run, header: bool) {
        if self.picker.is_some() {
            (0..run.times).for_each(|_| self.picked(shapes, Run { times: 1, ..run }, header));
            return;
        }
        let end = self.position + run.total();
        if end <= self.quiet {
            self.position = end;
            return;
        }
        let mut left = run.times;
        while left > 0 {
            let blocks = u64::from(run.blocks);
            // Repetitions that are passed over.
            let passed = (self.quiet.saturating_sub(self.position) / blocks.max(1)).min(u64::from(left));
            self.position += passed * blocks;
            left -= passed as u32;
            if left > 0 {
                self.once(shapes, Run { times: 1, ..run }, header);
                left -= 1;
            }
        }
    }

    fn nothing(&mut self, times: u64) {
        if let Some(picker) = &mut self.picker {
            for _ in 0..times {
                let _ = picker.path(&mut self.draws, self.f, 0, false);
            }
        }
    }

    fn hole(&mut self) {
        self.tally.abandoned += self.open.len() as u64;
        self.open.clear();
        self.due = u64::MAX;
        self.rest();
    }
}
