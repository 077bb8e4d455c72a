//! Skipping in the probes: the sampler says how many path ends the probes may leave out.
//!
//! The stream costs most where it is produced: a word per path end, most of which the sampler only passes
//! over. But where a sample begins is drawn in advance. So the sampler says after each batch how many path
//! ends it can do without, the probes count down, and what a path end costs is a decrement (OSP section 2.1,
//! `skip`, by path instead of by block).
//!
//! How many blocks the left-out paths have is not known then, so chance has two steps. A path end is *picked*
//! with probability `BLOCKS / f`, independently. In a picked path, one block of every `BLOCKS` consecutive
//! ones begins a sample, each of them as likely; where the last ones are fewer, the draw may fall behind the
//! path's end. So each block begins one with probability `1 / f`, as without skipping, and estimates are
//! unbiased. What differs: blocks of one path that are further apart than `BLOCKS` begin samples together,
//! and the number of blocks is an estimate as well.

//!
//! Where loop headers are preferred, a path end is picked as often as the likelier of the two needs it, and
//! chance decides for each such path whether blocks anywhere or the header begin one. Where only headers
//! count, one in `f` path ends is picked, and if its path begins at a header, a sample does.

use trodden_profile::options::SubpathStarts;

use super::draws::Draws;

/// One of this number of consecutive blocks of a picked path begins a sample. Most paths have fewer, so that
/// two samples seldom begin in one path, as if each were drawn independently.
pub(super) const BLOCKS: u32 = 8;

/// Words that are asked for at once at most.
const BATCH: u64 = 64;

/// The path ends that a thread's stream has to have from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Number of path ends to leave out first, exactly.
    pub skip: u32,
    /// Then hand on up to this number, at least one, before asking again.
    pub words: u32,
}

impl Wanted {
    /// Everything.
    pub const ALL: Wanted = Wanted {
        skip: 0,
        words: u32::MAX,
    };
}

/// Picks path ends.
#[derive(Clone, Debug)]
pub(super) struct Picker {
    starts: SubpathStarts,
    chances: Chances,
    /// Path ends before the next that is picked.
    left: u64,
    /// Estimated number of blocks, and of loop headers at which paths begin; with ageing, old ones count
    /// less.
    pub blocks: f64,
    /// See [`blocks`](Self::blocks).
    pub headers: f64,
    /// Estimated number of blocks, without ageing.
    pub passed: f64,
    /// Path ends that were handed on, and their blocks.
    seen: (u64, u64),
}

/// The probabilities of the random decisions at a path end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chances {
    /// It is picked.
    pick: f64,
    /// Then: [`BLOCKS`] consecutive blocks have one that begins a sample.
    pub anywhere: f64,
    /// Then: the loop header at its beginning begins a sample of its own.
    pub header: f64,
}

impl Chances {
    fn new(starts: SubpathStarts, f: u64) -> Self {
        let f = f as f64;
        // Wanted in all: of a group of blocks, and of a header.
        let (anywhere, header) = match starts {
            SubpathStarts::Anywhere => (f64::from(BLOCKS) / f, 0.0),
            SubpathStarts::Prefer(weight) => (f64::from(BLOCKS) / f, (f64::from(weight.get()) - 1.0) / f),
            SubpathStarts::Headers => (0.0, 1.0 / f),
        };
        let (anywhere, header) = (anywhere.min(1.0), header.min(1.0));
        let pick = anywhere.max(header);
        Chances {
            pick,
            anywhere: anywhere / pick,
            header: header / pick,
        }
    }
}

impl Picker {
    pub fn new(starts: SubpathStarts, draws: &mut Draws, f: u64) -> Self {
        let mut picker = Picker {
            starts,
            chances: Chances::default(),
            left: 0,
            blocks: 0.0,
            headers: 0.0,
            passed: 0.0,
            seen: (0, 0),
        };
        picker.draw(draws, f);
        picker
    }

    /// A distance between samples that picking can have.
    pub fn distance(f: u64) -> u64 {
        f.max(1).next_multiple_of(u64::from(BLOCKS))
    }

    /// The largest one that is not above `f`, if there is one.
    pub fn at_most(f: u64) -> u64 {
        let blocks = u64::from(BLOCKS);
        (f / blocks).max(1) * blocks
    }

    /// Draws again which one is next. (Gaps have no memory.)
    pub fn draw(&mut self, draws: &mut Draws, f: u64) {
        self.chances = Chances::new(self.starts, f);
        self.left = draws.gap(self.chances.pick);
    }

    /// A path end with this number of blocks was handed on. If it is picked, chance has this to decide yet.
    /// `header`: does its path begin at a loop's header?
    pub fn path(&mut self, draws: &mut Draws, f: u64, blocks: u32, header: bool) -> Option<Chances> {
        self.seen = (self.seen.0 + 1, self.seen.1 + u64::from(blocks));
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                None
            }
            None => {
                let chances = self.chances;
                self.draw(draws, f);
                // It represents those that were not picked.
                let more = f64::from(blocks) / chances.pick;
                self.blocks += more;
                self.passed += more;
                self.headers += f64::from(u8::from(header)) / chances.pick;
                Some(chances)
            }
        }
    }

    /// The path ends that are to come next, if samples in progress lack this number of blocks. The answer
    /// binds both sides.
    pub fn wanted(&mut self, lacking: u64) -> Wanted {
        if lacking > 0 {
            let (paths, blocks) = (self.seen.0.max(1), self.seen.1.max(1));
            let words = (lacking.saturating_mul(paths) / blocks + 1).min(BATCH);
            return Wanted {
                skip: 0,
                words: words as u32,
            };
        }
        let skip = self.left.min(i32::MAX as u64 / 2);
        self.left -= skip;
        Wanted {
            skip: skip as u32,
            words: 1,
        }
    }
}
