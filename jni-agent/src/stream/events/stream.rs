//! The stream of one block: what was consumed of it, and what its consumer knows of the thread's stack.

use std::sync::Arc;

use trodden_analyses::stream::{Pipeline, ThreadStream};
use trodden_profile::events::{ThreadInfo, Word};

use crate::threads::{ThreadBlock, stack};

/// Fewer activations than these are never too many.
pub(super) const DEEP: u32 = 1024;

/// The stream of a block.
pub(super) struct Open {
    pub(super) block: ThreadBlock,
    info: ThreadInfo,
    pub(super) stream: ThreadStream,
    pub(super) pipeline: Arc<Pipeline>,
    /// Words of the block that were consumed and are still in it.
    consumed: usize,
    /// Activations below those that the consumer may know.
    told: u32,
    /// Number of activations from which on it is worth a look whether they are still there.
    look_at: u32,
    /// Activations from before profiling that the consumer knows.
    pub(super) before: Vec<u64>,
    /// Walks that looked for them.
    pub(super) walks: u32,
    /// Consuming is in progress, or panicked: then nothing more is consumed, as the analysis may have stopped
    /// in the middle.
    consuming: bool,
    /// Words that were not consumed because of that.
    pub(super) lost: u64,
}

impl Open {
    /// The stream of a thread that writes to this block, from where it is now.
    pub(super) fn new(block: ThreadBlock, info: ThreadInfo, pipeline: Arc<Pipeline>) -> Self {
        let stream = pipeline.open(info.clone());
        let mut open = Open {
            block,
            info,
            stream,
            pipeline,
            consumed: 0,
            told: 0,
            look_at: 0,
            before: Vec::new(),
            walks: 0,
            consuming: false,
            lost: 0,
        };
        open.tell_depth();
        open
    }

    /// Continues into a new pipeline, from its place.
    pub(super) fn redirect(&mut self, pipeline: &Arc<Pipeline>) {
        if !Arc::ptr_eq(&self.pipeline, pipeline) {
            self.consume(false);
            self.stream = pipeline.open(self.info.clone());
            self.pipeline = Arc::clone(pipeline);
            self.before.clear();
            self.walks = 0;
            self.consuming = false;
            self.tell_depth();
        }
    }

    /// Sends a new consumer how many activations there are of which it will know nothing. (While the thread
    /// runs, this may be off by those that begin or end at this very moment.)
    fn tell_depth(&mut self) {
        self.told = self.block.activations();
        self.look_at = self.told.saturating_add(DEEP);
        if self.told > 0 {
            self.send(&[Word::unwound(self.told).0]);
        }
    }

    /// Activations end in silence when an exception passes them. The next event of one below them shows it;
    /// but if the exception is caught where there are no probes, and nothing below has any, there is none:
    /// the number of activations only grows then, and with it what consumers keep of them. So once there are
    /// many more than the thread has frames, consumers forget them. Those that are still there come up again
    /// as orphans.
    pub(super) fn forget_dead(&mut self, frames: impl FnOnce() -> Option<u32>) {
        let depth = self.block.activations();
        if depth < self.told {
            self.told = depth;
            self.look_at = depth.saturating_add(DEEP);
        }
        if depth < self.look_at {
            return;
        }
        // Counting frames takes much memory where there are many, and then there is room for that many
        // activations.
        if stack::most_frames().is_some_and(|most| depth - self.told <= most) {
            return;
        }
        let Some(frames) = frames() else { return };
        // Deep recursion costs a look each time it has become twice as deep.
        let many = frames.saturating_mul(2).saturating_add(DEEP);
        if depth - self.told > many {
            self.told = depth;
            self.send(&[Word::GAP.0, Word::unwound(depth).0]);
        }
        self.look_at = self.told.saturating_add(many);
    }

    /// Sends the consumer words that are not in the block.
    pub(super) fn send(&mut self, words: &[u64]) {
        if !self.pipeline.needs().activations {
            return;
        }
        self.hand_over(words);
    }

    /// Has words consumed, unless that panicked before.
    fn hand_over(&mut self, words: &[u64]) {
        if self.consuming {
            self.lost += words.len() as u64;
            return;
        }
        self.consuming = true;
        self.stream.consume(words);
        self.consuming = false;
    }

    /// Takes in what is new in the block. `empties`: the block's thread is here itself, or is no more.
    pub(super) fn consume(&mut self, empties: bool) {
        let words = self.block.words();
        if self.consumed < words {
            // SAFETY: a block is emptied only below, under this stream's lock, or when there is no stream;
            // and `words` came from the block.
            let new = unsafe { self.block.read(self.consumed..words) };
            // First: words that make the analysis panic are not given to it again.
            self.consumed = words;
            self.hand_over(new);
        }
        if empties {
            self.consumed = 0;
            self.block.empty();
        }
    }
}
