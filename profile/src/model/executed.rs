//! The execution of a method: its counts, with the paths behind their numbers.

use trodden_numbering::{BlockId, Path, RegenerateError, StartKind};

use crate::model::counts::MethodCounts;
use crate::model::edges::EdgeProfile;
use crate::model::map::MethodMap;

/// A path that ran.
#[derive(Clone, Debug)]
pub struct ExecutedPath {
    /// Its number.
    pub number: u64,
    /// Where it was cut off: then it is a prefix, and the number is a partial one.
    pub stopped: Option<BlockId>,
    /// How often, as counted.
    pub times: u64,
    /// Its edges.
    pub path: Path,
}

/// A count whose number names no path of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableCount {
    /// The number.
    pub number: u64,
    /// Where it was cut off.
    pub stopped: Option<BlockId>,
    /// How often, as counted.
    pub times: u64,
    /// Description of the fault.
    pub error: RegenerateError,
}

impl MethodMap {
    /// The path of a number; of a partial one, if it stopped in a block.
    ///
    /// # Errors
    /// If the number names none.
    pub fn path(&self, number: u64, stopped: Option<BlockId>) -> Result<Path, RegenerateError> {
        match stopped {
            None => self.dag.regenerate(&self.graph, number),
            Some(block) => self.dag.regenerate_partial(&self.graph, number, block),
        }
    }

    /// Counts of this method with the paths behind their numbers, whole paths first. Counts of 0 are left
    /// out.
    pub fn executed<'c>(
        &'c self,
        counts: &'c MethodCounts,
    ) -> impl Iterator<Item = Result<ExecutedPath, UnreadableCount>> + use<'c> {
        let whole = counts.paths.iter().map(|(&number, &times)| (number, None, times));
        let partial = counts.partial.iter().map(|(&(block, number), &times)| {
            let stopped = BlockId::new(block as usize);
            (number, Some(stopped), times)
        });
        let counted = whole.chain(partial).filter(|&(.., times)| times > 0);
        counted.map(|(number, stopped, times)| match self.path(number, stopped) {
            Ok(path) => Ok(ExecutedPath {
                number,
                stopped,
                times,
                path,
            }),
            Err(error) => Err(UnreadableCount {
                number,
                stopped,
                times,
                error,
            }),
        })
    }
}

/// The sums of a method's execution. A count whose number names no path is in no sum but
/// [`EdgeProfile::unknown`]: nothing is known of it but that something ran.
#[derive(Clone, Debug)]
pub struct ExecutedMethod {
    /// Executions of blocks and edges.
    pub edges: EdgeProfile,
    /// Per block whether the counts say how often it ran: see [`MethodMap::known_blocks`].
    pub known_blocks: Vec<bool>,
    /// Activations that were counted.
    pub entries: u64,
    /// Executed bytecode instructions.
    pub work: u64,
}

impl ExecutedMethod {
    /// From a method's counts.
    pub fn new(map: &MethodMap, counts: &MethodCounts) -> Self {
        let mut edges = EdgeProfile::new(map);
        let mut entries = 0u64;
        for executed in map.executed(counts) {
            match executed {
                Ok(executed) => {
                    if executed.path.start == StartKind::Entry {
                        entries = entries.saturating_add(executed.times);
                    }
                    edges.add(map, &executed.path, executed.times);
                }
                Err(unreadable) => edges.unknown = edges.unknown.saturating_add(unreadable.times),
            }
        }
        ExecutedMethod {
            work: map.work(&edges),
            edges,
            known_blocks: map.known_blocks(counts),
            entries,
        }
    }
}

impl MethodMap {
    /// Executed bytecode instructions of these executions of blocks.
    pub fn work(&self, edges: &EdgeProfile) -> u64 {
        let blocks = edges.blocks.iter().enumerate();
        blocks.fold(0u64, |sum, (block, &times)| {
            sum.saturating_add(times.saturating_mul(self.instructions(block)))
        })
    }

    /// Instructions of a block; in profiles without shapes about as many as its bytes allow.
    pub fn instructions(&self, block: usize) -> u64 {
        match self.shape.as_ref().and_then(|shape| shape.blocks.get(block)) {
            Some(shape) => u64::from(shape.instructions),
            None => {
                let block = &self.blocks[block];
                u64::from(block.end.saturating_sub(block.start).div_ceil(2))
            }
        }
    }
}
