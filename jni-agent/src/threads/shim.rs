//! The Java shim inside the JVM: defining it, and the few calls the agent makes into it.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU32, Ordering};

use trodden_instrumenter::MethodId;

use crate::jvm::{GlobalRef, Jni, JvmError, StaticMethod};
use crate::threads::blocks::{Switches, ThreadBlock, ThreadBlocks};
use crate::threads::strata::Strata;

/// A class of the shim: its name, and its bytes as `build.rs` has compiled them.
macro_rules! class {
    ($name:literal) => {
        (
            match CStr::from_bytes_with_nul(concat!("java/lang/", $name, "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name without zeros"),
            },
            include_bytes!(concat!(env!("OUT_DIR"), "/shim/java/lang/", $name, ".class")),
        )
    };
}

/// The classes, in the order in which they are defined: none names a later one before it runs.
static CLASSES: [(&CStr, &[u8]); 9] = [
    class!("TroddenConfig"),
    class!("TroddenThreads$Table"),
    class!("TroddenThreads"),
    class!("Trodden"),
    class!("TroddenFeedback"),
    class!("TroddenRequests$Request"),
    class!("TroddenRequests$Open"),
    class!("TroddenRequests"),
    class!("TroddenAhead"),
];

/// Smallest and largest ring: the windows of usual schedules fit the one (64 KB), the other takes 8 MB.
const RING_ENTRIES: std::ops::RangeInclusive<u64> = 8192..=1 << 20;

/// Probes of coverage for which room is made before there are classes with them: a row of 4 KB has as many.
const PROBES_AHEAD: u32 = 16 << 12;

/// The defined shim.
pub struct Shim {
    class: GlobalRef,
    ring: GlobalRef,
    ring_entries: u64,
    first: Option<ThreadBlock>,
    arm: StaticMethod,
    disarm: StaticMethod,
    snapshot_hashed: StaticMethod,
    snapshot_cuts: StaticMethod,
    snapshot_tables: StaticMethod,
    lost: StaticMethod,
    rows: StaticMethod,
    row: StaticMethod,
    /// Probes of coverage below this number have their rows.
    room: AtomicU32,
}

/// Counts of a thread outside of its block, and of those before it that had the same memory.
pub struct Table {
    /// Address of the block; odd if others count there too.
    pub block: i64,
    /// Whose it is now.
    pub owner: Owner,
    /// Its path ends.
    pub hashed: Vec<(Hashed, i64)>,
    /// Its paths that exceptions cut off.
    pub cut: Vec<(Cut, i64)>,
}

/// Key of a path without slot: method and path; or first slot of a structure graph, and path.
pub type Hashed = (MethodId, u32);

/// Key of a path that an exception cuts off: method, register, and block in which it came. The
/// register is as it was in the method, with the method's first slot added if it has slots.
pub type Cut = (MethodId, u32, u32);

/// The thread that has a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The one that asks.
    Caller,
    /// Another one that lives, or several.
    Other,
    /// It has ended.
    Ended,
}

impl Shim {
    /// True if another copy of the agent has defined its own.
    pub fn is_another(jni: Jni<'_>) -> bool {
        let [(name, _), ..] = CLASSES;
        let found = jni.find_class(name);
        if let Ok(class) = found {
            jni.delete_local(class.raw());
        }
        found.is_ok()
    }

    /// Defines the shim in java.base. `window`: path ends that a sampling window may have.
    pub fn define(jni: Jni<'_>, blocks: &ThreadBlocks, window: u64) -> Result<Self, JvmError> {
        let ring_entries = window
            .clamp(*RING_ENTRIES.start(), *RING_ENTRIES.end())
            .next_power_of_two();
        if Self::is_another(jni) {
            return Err(JvmError::OtherAgent);
        }
        let define = |(name, bytes)| jni.define_boot_class(name, bytes);
        let [config, table, threads, main, others @ .., ahead] = CLASSES;
        let config = define(config)?;
        jni.set_static_int(config, c"ring", ring_entries as i32)?;
        let index = blocks.index();
        jni.set_static_long(config, c"index", index.address)?;
        jni.set_static_long(config, c"indexEntries", index.entries)?;
        let (shared, first) = (blocks.shared(), blocks.reserve());
        jni.set_static_long(config, c"sharedBlocks", shared.as_ptr() as i64)?;
        jni.set_static_int(config, c"sharedCount", shared.len() as i32)?;
        jni.set_static_long(config, c"firstBlock", first.map_or(0, ThreadBlock::address))?;
        jni.set_static_long(config, c"sinkBlock", blocks.sink().address())?;
        let switches = blocks.switches().map_or(0, Switches::address);
        jni.set_static_long(config, c"switches", switches)?;
        define(table)?;
        define(threads)?;
        let class = define(main)?;
        let method = |name, descriptor| jni.static_method(class, name, descriptor);
        let ring = method(c"ring", c"()[J")?;
        let ring = jni.global(jni.call_object(class, ring)?);
        for other in others {
            define(other)?;
        }
        // Code that finds it finds the rest ready.
        define(ahead)?;
        Ok(Shim {
            class: jni.global(class.raw()),
            ring,
            ring_entries,
            first: first.filter(|_| shared.iter().all(|&block| block != 0)),
            arm: method(c"arm", c"(I)V")?,
            disarm: method(c"disarm", c"()I")?,
            snapshot_hashed: method(c"snapshotHashed", c"()[J")?,
            snapshot_cuts: method(c"snapshotCuts", c"()[J")?,
            snapshot_tables: method(c"snapshotTables", c"()[J")?,
            lost: method(c"lost", c"()J")?,
            rows: method(c"rows", c"(I)I")?,
            row: method(c"row", c"(I)[B")?,
            room: AtomicU32::new(0),
        })
    }

    /// Length of the ring.
    pub fn ring_entries(&self) -> u64 {
        self.ring_entries
    }

    /// Fixes how windows to come lay out path ends in the ring. No window may be open.
    pub fn lay_out(&self, jni: Jni<'_>, strata: Strata) -> Result<(), JvmError> {
        jni.set_static_long(self.class.class(), c"step", strata.step as i64)?;
        jni.set_static_int(self.class.class(), c"log", strata.log as i32)
    }

    /// Empties that many entries: what no path end overwrites is -1 then.
    pub fn clear(&self, jni: Jni<'_>, entries: usize) -> Result<(), JvmError> {
        let entries = entries.min(self.ring_entries as usize);
        jni.set_longs(self.ring, &vec![-1; entries])
    }

    /// Opens a window of at most that many path ends.
    pub fn arm(&self, jni: Jni<'_>, path_ends: u64) -> Result<(), JvmError> {
        let path_ends = path_ends.min(i32::MAX as u64) as i32;
        jni.call_void_int(self.class.class(), self.arm, path_ends)
    }

    /// Closes the window. Returns how many path ends it saw.
    pub fn disarm(&self, jni: Jni<'_>) -> Result<u64, JvmError> {
        let seen = jni.call_int(self.class.class(), self.disarm)?;
        Ok(seen.max(0) as u64)
    }

    /// A burst begins (its number, above 0), or is over (0).
    pub fn set_burst(&self, jni: Jni<'_>, number: i32) -> Result<(), JvmError> {
        jni.set_static_int(self.class.class(), c"burst", number)
    }

    /// The ring's first entries. Those that no path end wrote since they were emptied are -1.
    pub fn entries(&self, jni: Jni<'_>, entries: usize) -> Result<Vec<i64>, JvmError> {
        jni.longs(self.ring.raw(), entries.min(self.ring_entries as usize))
    }

    /// The block of the thread that defined the shim, if there was memory for blocks at all.
    pub fn first_block(&self) -> Option<ThreadBlock> {
        self.first
    }

    /// All hashed counts.
    pub fn hashed_counts(&self, jni: Jni<'_>) -> Result<Vec<(Hashed, i64)>, JvmError> {
        let pairs = self.snapshot(jni, self.snapshot_hashed)?;
        Ok(pairs.chunks_exact(2).map(hashed).collect())
    }

    /// All paths that exceptions cut off.
    pub fn cut_paths(&self, jni: Jni<'_>) -> Result<Vec<(Cut, i64)>, JvmError> {
        let triples = self.snapshot(jni, self.snapshot_cuts)?;
        Ok(triples.chunks_exact(3).map(cut).collect())
    }

    /// Counts by hash of each thread, with the owners of these tables; for the calling thread. The last one
    /// is that of virtual threads.
    pub fn tables(&self, jni: Jni<'_>) -> Result<Vec<Table>, JvmError> {
        let words = self.snapshot(jni, self.snapshot_tables)?;
        let mut tables = Vec::new();
        let mut rest = &words[..];
        while let [block, state, pairs, triples, more @ ..] = rest {
            let Some((pairs, more)) = more.split_at_checked(2 * *pairs as usize) else {
                break;
            };
            let Some((triples, more)) = more.split_at_checked(3 * *triples as usize) else {
                break;
            };
            rest = more;
            tables.push(Table {
                block: *block,
                owner: match state {
                    0 => Owner::Ended,
                    1 => Owner::Caller,
                    _ => Owner::Other,
                },
                hashed: pairs.chunks_exact(2).map(hashed).collect(),
                cut: triples.chunks_exact(3).map(cut).collect(),
            });
        }
        Ok(tables)
    }

    fn snapshot(&self, jni: Jni<'_>, of: StaticMethod) -> Result<Vec<i64>, JvmError> {
        let _frame = jni.frame(16)?;
        let array = jni.call_object(self.class.class(), of)?;
        jni.longs(array, jni.array_length(array))
    }

    /// Makes room for probes of coverage below a number, and some more. `false` if the JVM has none. One
    /// thread at a time.
    pub fn make_room(&self, jni: Jni<'_>, end: u32) -> bool {
        if end <= self.room.load(Ordering::Relaxed) {
            return true;
        }
        let most = end.saturating_add(PROBES_AHEAD);
        let made = [most, end].into_iter().find(|&most| {
            let most = i32::try_from(most);
            most.is_ok_and(|most| jni.call_int_int(self.class.class(), self.rows, most) == Ok(1))
        });
        self.room.fetch_max(made.unwrap_or(0), Ordering::Relaxed);
        made.is_some()
    }

    /// Which probes of coverage below a number were passed.
    pub fn passed(&self, jni: Jni<'_>, end: u32) -> Result<Vec<bool>, JvmError> {
        let mut passed = Vec::with_capacity(end as usize);
        for row in 0.. {
            if passed.len() >= end as usize {
                break;
            }
            match jni.call_bytes_int(self.class.class(), self.row, row)? {
                Some(bytes) if !bytes.is_empty() => passed.extend(bytes.iter().map(|&byte| byte != 0)),
                _ => break,
            }
        }
        passed.resize(end as usize, false);
        Ok(passed)
    }

    /// Path ends that found no memory to be counted in.
    pub fn lost(&self, jni: Jni<'_>) -> Result<i64, JvmError> {
        jni.call_long(self.class.class(), self.lost)
    }
}

fn hashed(pair: &[i64]) -> (Hashed, i64) {
    (hashed_key(pair[0]), pair[1])
}

fn cut(triple: &[i64]) -> (Cut, i64) {
    (cut_key(triple[0], triple[1]), triple[2])
}

/// A cut path, by its key and block.
pub fn cut_key(key: i64, block: i64) -> Cut {
    let (method, register) = hashed_key(key);
    (method, register, block as u32)
}

/// The halves of a key: a method's number, one too large so that no key is 0, and a path or register.
pub fn hashed_key(key: i64) -> Hashed {
    (MethodId(((key >> 32) as u32).wrapping_sub(1)), key as u32)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use trodden_classfile::class::Class;
    use trodden_instrumenter::ShimMethod;

    use super::*;

    /// What probes call is there, and what is there for probes is called by some.
    #[test]
    fn the_shim_has_the_methods_that_probes_call() {
        const PUBLIC_STATIC: u16 = 0x0009;
        let (_, bytes) = CLASSES
            .into_iter()
            .find(|(name, _)| *name == c"java/lang/Trodden")
            .unwrap();
        let class = Class::read(bytes).unwrap();
        let methods = class
            .methods
            .iter()
            .filter(|m| m.access & PUBLIC_STATIC == PUBLIC_STATIC);
        let there: BTreeSet<(&str, &str)> = methods
            .map(|m| {
                (
                    str::from_utf8(m.name).unwrap(),
                    str::from_utf8(m.descriptor).unwrap(),
                )
            })
            .collect();
        let called = ShimMethod::ALL.iter().map(|method| method.signature());
        // Called by what says when tests end.
        let test = ("test", "(Ljava/lang/String;JJLjava/lang/String;)V");
        assert_eq!(there, called.chain([test]).collect());
    }

    /// The class with the constants need not be defined: no class names it.
    #[test]
    fn constants_of_the_layout_are_compiled_in() {
        for (name, bytes) in CLASSES {
            // The compiler names the class all the same; nothing of it may be read when the program runs.
            let pool = Class::read(bytes).unwrap().pool;
            let members = (1..pool.len() as u16).filter_map(|index| pool.member(index));
            let read = members.filter(|member| member.class == b"java/lang/TroddenLayout");
            assert_eq!(read.count(), 0, "{name:?}");
        }
    }

    #[test]
    fn the_embedded_classes_are_class_files_of_java_17() {
        for (name, bytes) in CLASSES {
            assert_eq!(bytes[..4], [0xca, 0xfe, 0xba, 0xbe], "{name:?}");
            assert_eq!(u16::from_be_bytes([bytes[6], bytes[7]]), 61, "{name:?}");
        }
    }
}
