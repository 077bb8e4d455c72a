//! The latest part of the stream, as far back as a sample that is being taken needs it.

use std::collections::VecDeque;

use super::runs::Run;

/// Consecutive runs. Positions count blocks from the thread's first.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    runs: VecDeque<Run>,
    /// Position of the first block of the first run.
    begin: u64,
    /// Position after the last.
    end: u64,
}

impl Window {
    /// Nothing is needed before this position, which is where the next run begins.
    pub fn restart(&mut self, at: u64) {
        self.runs.clear();
        (self.begin, self.end) = (at, at);
    }

    /// Takes in the stream's next run.
    pub fn push(&mut self, run: Run) {
        self.end += run.total();
        if let Some(last) = self.runs.back_mut() {
            let times = last.times.checked_add(run.times);
            if let Some(times) = times.filter(|_| {
                Run {
                    times: run.times,
                    ..*last
                } == run
            }) {
                last.times = times;
                return;
            }
        }
        self.runs.push_back(run);
    }

    /// Nothing is needed before this position.
    pub fn trim(&mut self, from: u64) {
        while let Some(first) = self.runs.front_mut() {
            let before = from.saturating_sub(self.begin) / u64::from(first.blocks.max(1));
            let gone = before.min(u64::from(first.times)) as u32;
            self.begin += u64::from(gone) * u64::from(first.blocks);
            first.times -= gone;
            if first.times > 0 {
                break;
            }
            self.runs.pop_front();
        }
    }

    /// The runs of `length` blocks from a position on, cut to fit. They have to be there.
    pub fn cut(&self, from: u64, length: u32, out: &mut Vec<Run>) {
        let (mut skip, mut left) = (from.saturating_sub(self.begin), u64::from(length));
        for &run in &self.runs {
            if skip >= run.total() {
                skip -= run.total();
                continue;
            }
            let blocks = u64::from(run.blocks);
            let mut times = u64::from(run.times) - skip / blocks;
            // The rest of a path that the subpath begins inside.
            let inside = skip % blocks;
            skip = 0;
            if inside > 0 && left > 0 {
                let some = left.min(blocks - inside);
                out.push(Run {
                    from: run.from + inside as u32,
                    blocks: some as u32,
                    times: 1,
                    ..run
                });
                left -= some;
                times -= 1;
            }
            let whole = times.min(left / blocks);
            if whole > 0 {
                out.push(Run {
                    times: whole as u32,
                    ..run
                });
                left -= whole * blocks;
                times -= whole;
            }
            // The first part of a path that it ends inside.
            if times > 0 && left > 0 {
                out.push(Run {
                    blocks: left as u32,
                    times: 1,
                    ..run
                });
                left = 0;
            }
            if left == 0 {
                break;
            }
        }
    }

    pub fn bytes(&self) -> usize {
        self.runs.capacity() * size_of::<Run>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Path and number of each block.
    fn blocks(runs: &[Run]) -> Vec<(u32, u32)> {
        let once = |run: &Run| {
            (run.from..run.from + run.blocks)
                .map(|b| (run.path, b))
                .collect::<Vec<_>>()
        };
        runs.iter()
            .flat_map(|run| once(run).repeat(run.times as usize))
            .collect()
    }

    proptest! {
        #[test]
        fn cuts_are_slices(
            stream in prop::collection::vec((0..3u32, 1..5u32, 1..4u32), 1..30),
            trims in prop::collection::vec(0..40u64, 0..5),
            from in 0..60usize,
            length in 1..60usize,
        ) {
            let runs: Vec<Run> = stream
                .iter()
                .map(|&(path, blocks, times)| Run { method: 1, path, from: path, blocks, times })
                .collect();
            let all = blocks(&runs);
            let mut window = Window::default();
            window.restart(0);
            let from = from.min(all.len() - 1);
            let length = length.min(all.len() - from);
            for (at, &run) in runs.iter().enumerate() {
                window.push(run);
                if let Some(&trim) = trims.get(at) {
                    window.trim(trim.min(from as u64));
                }
            }
            let mut cut = Vec::new();
            window.cut(from as u64, length as u32, &mut cut);
            prop_assert_eq!(blocks(&cut), &all[from..from + length]);
            // Few runs for many repetitions.
            prop_assert!(cut.len() <= runs.len() + 4);
        }
    }
}
