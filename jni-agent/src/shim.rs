//! The Java shim inside the JVM: defining it, and the few calls the agent makes into it.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::jvm::{GlobalRef, Jni, JvmError, MethodId};

/// The classes, in the order in which they are defined.
static CLASSES: [(&std::ffi::CStr, &[u8]); 3] = [
    (
        c"java/lang/TroddenConfig",
        include_bytes!(concat!(env!("OUT_DIR"), "/shim/java/lang/TroddenConfig.class")),
    ),
    (
        c"java/lang/Trodden$Table",
        include_bytes!(concat!(env!("OUT_DIR"), "/shim/java/lang/Trodden$Table.class")),
    ),
    (
        c"java/lang/Trodden",
        include_bytes!(concat!(env!("OUT_DIR"), "/shim/java/lang/Trodden.class")),
    ),
];

/// Smallest and largest ring: a window of every default fits the one, the other takes 8 MB.
const RING_ENTRIES: std::ops::RangeInclusive<u64> = 2048..=1 << 20;

/// Lengths of counter arrays by class index, read by the shim when a thread first counts in a class. Its memory is
/// reserved at once but only touched where indices are in use.
pub struct SlotTable(Box<[AtomicU32]>);

impl SlotTable {
    /// Most classes that can be instrumented in the life of a JVM.
    pub const CLASSES: usize = 1 << 20;

    /// All zero.
    pub fn new() -> Self {
        let zeros: Box<[u32]> = vec![0; Self::CLASSES].into_boxed_slice();
        let length = zeros.len();
        let data = Box::into_raw(zeros).cast::<AtomicU32>();
        // SAFETY: AtomicU32 has the size, alignment and bit validity of u32, and the memory is owned by us alone.
        // (Collecting atomics one by one would touch every page.)
        SlotTable(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(data, length)) })
    }

    /// Sets a class's array length, before any of its probes can run.
    pub fn set(&self, class: u32, slots: u32) {
        self.0[class as usize].store(slots, Ordering::Release);
    }

    fn address(&self) -> i64 {
        self.0.as_ptr() as i64
    }
}

/// The defined shim.
pub struct Shim {
    class: GlobalRef,
    ring: GlobalRef,
    ring_entries: u64,
    arm: MethodId,
    disarm: MethodId,
    snapshot: MethodId,
    snapshot_hashed: MethodId,
    lost: MethodId,
}

impl Shim {
    /// Defines the shim in java.base. `window`: path ends that a sampling window may have.
    pub fn define(jni: Jni<'_>, slots: &'static SlotTable, window: u64) -> Result<Self, JvmError> {
        let ring_entries = window
            .clamp(*RING_ENTRIES.start(), *RING_ENTRIES.end())
            .next_power_of_two();
        let unsafe_class = jni.find_class(c"jdk/internal/misc/Unsafe")?;
        let base = jni.static_integer(unsafe_class, c"ARRAY_LONG_BASE_OFFSET")?;
        let [(name, bytes), nested, main] = CLASSES;
        let config = jni.define_boot_class(name, bytes)?;
        jni.set_static_int(config, c"ring", ring_entries as i32)?;
        jni.set_static_long(config, c"slots", slots.address())?;
        jni.set_static_long(config, c"longArrayBase", base)?;
        // The main class names the nested one only when it runs, so this order needs no lookup by the JVM.
        jni.define_boot_class(nested.0, nested.1)?;
        let class = jni.define_boot_class(main.0, main.1)?;
        let method = |name, descriptor| jni.static_method(class, name, descriptor);
        let ring = method(c"ring", c"()[J")?;
        Ok(Shim {
            class: jni.global_class(class),
            ring: jni.global(jni.call_object(class, ring)?),
            ring_entries,
            arm: method(c"arm", c"(I)V")?,
            disarm: method(c"disarm", c"()I")?,
            snapshot: method(c"snapshot", c"()[[J")?,
            snapshot_hashed: method(c"snapshotHashed", c"()[J")?,
            lost: method(c"lost", c"()J")?,
        })
    }

    /// Path ends that a window can have.
    pub fn ring_entries(&self) -> u64 {
        self.ring_entries
    }

    /// Opens a window of that many path ends (at most the ring's).
    pub fn arm(&self, jni: Jni<'_>, entries: u64) -> Result<(), JvmError> {
        jni.call_void_int(
            self.class.class(),
            self.arm,
            entries.min(self.ring_entries) as i32,
        )
    }

    /// Closes the window; the path ends it saw, in order. Entries that a race left unwritten are -1.
    pub fn disarm(&self, jni: Jni<'_>) -> Result<Vec<i64>, JvmError> {
        let seen = jni.call_int(self.class.class(), self.disarm)?;
        let entries = (seen.max(0) as u64).min(self.ring_entries);
        jni.global_longs(self.ring, entries as usize)
    }

    /// All dense counts: by class index and slot; empty where nothing was counted.
    pub fn counts(&self, jni: Jni<'_>) -> Result<Vec<Vec<i64>>, JvmError> {
        jni.push_frame(64)?;
        let result = self.counts_in_frame(jni);
        jni.pop_frame();
        result
    }

    fn counts_in_frame(&self, jni: Jni<'_>) -> Result<Vec<Vec<i64>>, JvmError> {
        let classes = jni.call_object(self.class.class(), self.snapshot)?;
        let mut counts = Vec::with_capacity(jni.array_length(classes));
        for index in 0..jni.array_length(classes) {
            let array = jni.element(classes, index)?;
            counts.push(if array.is_null() {
                Vec::new()
            } else {
                jni.longs(array, jni.array_length(array))?
            });
            jni.delete_local(array);
        }
        Ok(counts)
    }

    /// All hashed counts: (method, path, count).
    pub fn hashed_counts(&self, jni: Jni<'_>) -> Result<Vec<(u32, u32, i64)>, JvmError> {
        jni.push_frame(16)?;
        let pairs = jni
            .call_object(self.class.class(), self.snapshot_hashed)
            .and_then(|array| jni.longs(array, jni.array_length(array)));
        jni.pop_frame();
        let key = |k: i64| ((k >> 32) as u32, k as u32);
        let triple = |pair: &[i64]| {
            let (method_plus_one, path) = key(pair[0]);
            (method_plus_one.wrapping_sub(1), path, pair[1])
        };
        Ok(pairs?.chunks_exact(2).map(triple).collect())
    }

    /// Path ends that found no memory to be counted in.
    pub fn lost(&self, jni: Jni<'_>) -> Result<i64, JvmError> {
        jni.call_long(self.class.class(), self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_classes_are_class_files_of_java_17() {
        for (name, bytes) in CLASSES {
            assert_eq!(bytes[..4], [0xca, 0xfe, 0xba, 0xbe], "{name:?}");
            assert_eq!(u16::from_be_bytes([bytes[6], bytes[7]]), 61, "{name:?}");
        }
    }

    #[test]
    fn slots_are_ints_in_a_row() {
        let table = SlotTable::new();
        table.set(3, 77);
        let at = table.address() as *const u32;
        // SAFETY: the table has more than three entries.
        assert_eq!(unsafe { at.add(3).read() }, 77);
    }
}
