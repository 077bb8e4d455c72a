//! Counts of each thread since the last request: a test's own work, or that of threads which other tests may
//! have as well.

use std::collections::{BTreeMap, HashMap, HashSet};

use trodden_instrumenter::CounterSlot;

use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::sampling::ExactCounts;
use crate::threads::{Cut, Hashed, Owner, Shim};

/// All counts at the last reading, thread by thread.
#[derive(Default)]
pub struct ByThread {
    /// By address: slots and counts, in order.
    blocks: HashMap<i64, Vec<(u32, u64)>>,
    /// The oldest first: new ones come behind these.
    tables: Vec<Table>,
}

struct Table {
    /// Had its thread ended?
    ended: bool,
    hashed: BTreeMap<Hashed, i64>,
    cut: BTreeMap<Cut, i64>,
}

/// Counts since then.
#[derive(Default)]
pub struct More {
    /// By all threads.
    pub all: ExactCounts,
    /// Of this, by threads other than the calling one, unless all that they counted lies in between: they
    /// counted nothing before, and have ended.
    pub others: ExactCounts,
    /// True if there is any of that.
    pub by_others: bool,
}

impl ByThread {
    /// Reads all counts. What is more than the last time is what was counted since.
    pub fn more(&mut self, host: &Host, shim: &Shim, jni: Jni<'_>) -> Result<More, JvmError> {
        // Whose what is comes first: who has ended counts no more.
        let mut tables = shim.tables(jni)?;
        tables.reverse();
        let counters = host.registry.counters();
        let now = host.blocks.each(CounterSlot(0)..counters);
        let mut more = More {
            all: ExactCounts::none(counters),
            others: ExactCounts::none(counters),
            by_others: false,
        };
        let mut own_blocks = HashSet::new();
        let mut last = std::mem::take(&mut self.tables).into_iter();
        for table in tables {
            let before = last.next();
            let ended = table.owner == Owner::Ended;
            let own = match table.owner {
                Owner::Caller => true,
                Owner::Ended => before.as_ref().is_none_or(|before| before.ended),
                Owner::Other => false,
            };
            if own {
                own_blocks.insert(table.block);
            }
            for &(key, count) in &table.hashed {
                let old = before.as_ref().and_then(|before| before.hashed.get(&key));
                more.add(own, count - old.unwrap_or(&0), |counts, by| {
                    *counts.hashed.entry(key).or_default() += by;
                });
            }
            for &(key, count) in &table.cut {
                let old = before.as_ref().and_then(|before| before.cut.get(&key));
                more.add(own, count - old.unwrap_or(&0), |counts, by| {
                    *counts.cut.entry(key).or_default() += by;
                });
            }
            self.tables.push(Table {
                ended,
                hashed: table.hashed.into_iter().collect(),
                cut: table.cut.into_iter().collect(),
            });
        }
        for (address, counts) in now {
            let own = own_blocks.contains(&address);
            let before = self.blocks.remove(&address).unwrap_or_default();
            let mut before = before.iter().peekable();
            for &(slot, count) in &counts {
                // Slots never fall back to 0, so each of before is there again.
                let old = before.next_if(|(old, _)| *old == slot).map_or(0, |(_, old)| *old);
                more.add(own, count.wrapping_sub(old) as i64, |counts, by| {
                    counts.dense[slot as usize] += by as u64;
                });
            }
            self.blocks.insert(address, counts);
        }
        Ok(more)
    }
}

impl More {
    fn add(&mut self, own: bool, by: i64, mut add: impl FnMut(&mut ExactCounts, i64)) {
        if by <= 0 {
            return;
        }
        add(&mut self.all, by);
        if !own {
            add(&mut self.others, by);
            self.by_others = true;
        }
    }
}
