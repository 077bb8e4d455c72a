//! The CPU samples between two dumps of the same session.

use std::collections::{BTreeMap, HashMap};

use super::{CpuFailure, CpuNode, CpuRow, CpuSamples, CpuTime, CpuTree, FrameLines};

impl CpuTime {
    /// Without what was there before; nothing if that was more.
    #[must_use]
    pub fn less(self, before: CpuTime) -> CpuTime {
        CpuTime {
            samples: self.samples.saturating_sub(before.samples),
            ns: self.ns.saturating_sub(before.ns),
        }
    }
}

impl CpuSamples {
    /// What was sampled since an earlier dump of the same session.
    #[must_use]
    pub fn since(&self, earlier: &CpuSamples) -> CpuSamples {
        let before: BTreeMap<&str, CpuTime> = earlier.failed.iter().map(|f| (&*f.reason, f.time)).collect();
        let failed = self.failed.iter().map(|failure| CpuFailure {
            reason: failure.reason.clone(),
            time: failure
                .time
                .less(before.get(&*failure.reason).copied().unwrap_or_default()),
        });
        CpuSamples {
            reader: self.reader.clone(),
            interval_ns: self.interval_ns,
            process_ns: self
                .process_ns
                .zip(earlier.process_ns)
                .map(|(now, then)| now.saturating_sub(then)),
            lost: self.lost.less(earlier.lost),
            shortened: self.shortened.less(earlier.shortened),
            cut: self.cut.less(earlier.cut),
            failed: failed.filter(|failure| !failure.time.is_none()).collect(),
            frames: self.frames.clone(),
            tree: self.tree_since(earlier),
            lines: self.lines.clone(),
            paths: self.paths.less(&self.renumbered(&earlier.frames, &earlier.paths)),
            waits: self.waits.since(earlier.waits),
        }
    }

    /// Without stacks that nothing was sampled in, nor below them, and without methods that are in no stack.
    #[must_use]
    pub fn without_idle_stacks(&self) -> CpuSamples {
        let totals = self.tree.totals();
        let (mut rows, mut places) = (Vec::new(), Vec::new());
        for (row, total) in self.tree.rows().into_iter().zip(totals) {
            // Whoever has samples below has a caller that has them, too.
            let kept = (!total.is_none()).then_some(rows.len() as u32);
            places.push(kept);
            if kept.is_some() {
                let parent = row.parent.and_then(|parent| places[parent as usize]);
                rows.push(CpuRow { parent, ..row });
            }
        }
        let mut used: Vec<u32> = rows.iter().map(|row| row.frame).collect();
        used.sort_unstable();
        used.dedup();
        let frames = used.iter().map(|&frame| self.frames[frame as usize].clone());
        let mut all = CpuSamples {
            frames: Vec::new(),
            tree: CpuTree::default(),
            lines: FrameLines::default(),
            ..self.clone()
        };
        for row in &mut rows {
            row.frame = used.partition_point(|&frame| frame < row.frame) as u32;
        }
        all.set_stacks(frames.collect(), &rows);
        all.set_lines(&self.frames, self.list_lines());
        all.set_paths(&self.frames, &self.paths);
        all
    }

    /// The stacks of now, without the samples that they had.
    fn tree_since(&self, earlier: &CpuSamples) -> CpuTree {
        // Per frame of now: its number then.
        let frames: Vec<Option<u32>> = self
            .frames
            .iter()
            .map(|frame| Some(earlier.frames.binary_search(frame).ok()? as u32))
            .collect();
        let rows = earlier.tree.rows();
        let places = (0..)
            .zip(&rows)
            .map(|(at, row)| ((row.parent, row.frame, row.bci), at));
        let places: HashMap<(Option<u32>, u32, Option<u16>), u32> = places.collect();
        // Per depth: where the stack was then, if it was there.
        let mut above: Vec<Option<u32>> = Vec::new();
        let nodes = self.tree.nodes().iter().map(|node| {
            above.truncate(node.depth as usize - 1);
            // A stack whose caller was not there was not there either.
            let parent = match above.last() {
                None => Some(None),
                Some(caller) => caller.map(Some),
            };
            let frame = frames.get(node.frame as usize).copied().flatten();
            let then = parent
                .zip(frame)
                .and_then(|(parent, frame)| places.get(&(parent, frame, node.bci)).copied());
            above.push(then);
            let before = then.map_or_else(CpuTime::default, |at| rows[at as usize].own);
            CpuNode {
                own: node.own.less(before),
                ..*node
            }
        });
        CpuTree(nodes.collect())
    }
}
