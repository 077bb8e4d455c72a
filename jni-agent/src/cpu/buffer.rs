//! Stacks on their way from signal handlers to our thread.
//!
//! A fixed number of slots, each with room for the deepest stack that is kept. A handler takes a free slot,
//! fills it and marks it as full; our thread empties full ones. Handlers take the first free slot they find,
//! so that memory of slots far behind is never touched. If none is free the sample is counted as lost.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};

use memmap2::MmapMut;

/// Frames of a stack that are kept at most.
pub const FRAMES: usize = 512;

const FREE: u32 = 0;
const WRITING: u32 = 1;
const FULL: u32 = 2;

/// A frame as the JVM writes it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawFrame {
    /// Bytecode index; -3 in a native method.
    pub bci: i32,
    /// The method's `jmethodID`; 0 if it has none.
    pub method: usize,
}

/// One frame more than is kept, to see that there are more.
const ROOM: usize = FRAMES + 1;

#[derive(Default)]
struct Slot {
    state: AtomicU32,
    /// How many frames, or the JVM's reason for none: 0 or negative.
    count: AtomicI32,
    /// CPU time that the sample represents, in nanoseconds.
    nanos: AtomicU64,
    /// See [`Stack::in_call`].
    in_call: AtomicBool,
    /// See [`Stack::waits`].
    innermost: WaitSlot,
    callers: [WaitSlot; CALLERS],
    /// See [`Stack::instead`]; a ticket of 0: none.
    instead: AtomicU64,
    instead_slot: AtomicU32,
}

/// A [`Wait`] on its way; a ticket of 0: none.
#[derive(Default)]
struct WaitSlot {
    ticket: AtomicU64,
    depth: AtomicU32,
    represents: AtomicU32,
    is_doubtful: AtomicBool,
}

impl WaitSlot {
    fn set(&self, wait: Option<Wait>) {
        self.ticket
            .store(wait.map_or(0, |wait| wait.ticket), Ordering::Relaxed);
        if let Some(wait) = wait {
            self.depth.store(wait.depth, Ordering::Relaxed);
            self.represents
                .store(wait.represents.to_bits(), Ordering::Relaxed);
            self.is_doubtful.store(wait.is_doubtful, Ordering::Relaxed);
        }
    }

    fn get(&self) -> Option<Wait> {
        let ticket = self.ticket.load(Ordering::Relaxed);
        (ticket != 0).then(|| Wait {
            ticket,
            depth: self.depth.load(Ordering::Relaxed),
            represents: f32::from_bits(self.represents.load(Ordering::Relaxed)),
            is_doubtful: self.is_doubtful.load(Ordering::Relaxed),
        })
    }
}

/// The result of a handler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stack {
    /// How many frames there are, or a reason for none, as the JVM says it: 0 or negative.
    pub count: i32,
    /// True if the innermost frame is of a call that was made. If not, it may be that of a method which was
    /// inlined: the JVM names it for code of the caller's that has no bytecode index.
    pub in_call: bool,
    /// The path ends that the sample waits for.
    pub waits: Waits,
    /// The stack is no sample, but where one may have been.
    pub instead: Option<NextCount>,
}

/// The next count of a thread after a sample in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextCount {
    /// The number of the sample's wait; not 0.
    pub ticket: u64,
    /// The slot that was counted in.
    pub slot: u32,
}

impl Stack {
    /// A sample that waits for nothing, in code that was interrupted.
    pub fn of(count: i32) -> Self {
        Stack {
            count,
            in_call: false,
            waits: Waits::default(),
            instead: None,
        }
    }
}

/// Callers next to the innermost method that counts, of which each may wait.
pub const NEAREST: usize = 3;
/// Callers that a sample waits for, at most: of those farther away one.
pub const CALLERS: usize = NEAREST + 1;

/// The path ends that a sample waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waits {
    /// For the innermost method that counts.
    pub innermost: Option<Wait>,
    /// For the [nearest](NEAREST) of those that led to it, and for a random one of the others.
    pub callers: [Option<Wait>; CALLERS],
}

/// A sample waits for a path end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// Number of the wait; not 0.
    pub ticket: u64,
    /// The frame whose method's path end it is, from the innermost one on.
    pub depth: u32,
    /// How many samples and callers it represents, if not all of them wait.
    pub represents: f32,
    /// True if the thread may have been in another method: see `doubtful.rs`.
    pub is_doubtful: bool,
}

/// The slots.
pub struct Buffer {
    slots: Box<[Slot]>,
    /// [`ROOM`] frames per slot. Pages that no stack reached have no memory.
    frames: MmapMut,
    lost: AtomicU64,
    lost_nanos: AtomicU64,
}

/// A sample, out of its slot.
#[derive(Debug, PartialEq)]
pub struct Taken<'b> {
    /// Its frames, innermost first, or the JVM's reason for none.
    pub stack: Result<&'b [RawFrame], i32>,
    /// True if there were more frames.
    pub cut: bool,
    /// CPU time that it represents, in nanoseconds.
    pub nanos: u64,
    /// See [`Stack::in_call`].
    pub in_call: bool,
    /// See [`Stack::waits`].
    pub waits: Waits,
    /// See [`Stack::instead`].
    pub instead: Option<NextCount>,
}

impl Buffer {
    /// Room for this many stacks at a time.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn new(slots: usize) -> std::io::Result<Self> {
        let frames = MmapMut::map_anon(slots * ROOM * size_of::<RawFrame>())?;
        Ok(Buffer {
            slots: (0..slots).map(|_| Slot::default()).collect(),
            frames,
            lost: AtomicU64::new(0),
            lost_nanos: AtomicU64::new(0),
        })
    }

    /// Where a slot's frames are.
    fn room(&self, at: usize) -> *mut RawFrame {
        // In bounds: `new` made room for all slots. Page-aligned, so frames are aligned.
        self.frames
            .as_ptr()
            .cast_mut()
            .cast::<RawFrame>()
            .wrapping_add(at * ROOM)
    }

    /// Takes a slot, has it filled and hands it over, unless nothing came of it. `fill` gets room for that
    /// many frames. Returns false if there was no slot. Safe in a signal handler, if `fill` is: it neither
    /// waits nor allocates.
    pub fn put(&self, nanos: u64, fill: impl FnOnce(*mut RawFrame, i32) -> Option<Stack>) -> bool {
        for (at, slot) in self.slots.iter().enumerate() {
            let free = slot.state.load(Ordering::Relaxed) == FREE;
            let taken = || {
                slot.state
                    .compare_exchange(FREE, WRITING, Ordering::Acquire, Ordering::Relaxed)
            };
            if free && taken().is_ok() {
                let Some(stack) = fill(self.room(at), ROOM as i32) else {
                    slot.state.store(FREE, Ordering::Release);
                    return true;
                };
                slot.count.store(stack.count.min(ROOM as i32), Ordering::Relaxed);
                slot.in_call.store(stack.in_call, Ordering::Relaxed);
                slot.innermost.set(stack.waits.innermost);
                for (slot, wait) in slot.callers.iter().zip(stack.waits.callers) {
                    slot.set(wait);
                }
                let NextCount {
                    ticket,
                    slot: counted,
                } = stack.instead.unwrap_or(NextCount { ticket: 0, slot: 0 });
                slot.instead.store(ticket, Ordering::Relaxed);
                slot.instead_slot.store(counted, Ordering::Relaxed);
                slot.nanos.store(nanos, Ordering::Relaxed);
                slot.state.store(FULL, Ordering::Release);
                return true;
            }
        }
        false
    }

    /// There was no slot for a sample.
    pub fn lose(&self, nanos: u64) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        self.lost_nanos.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Hands over all samples that are there. Only one thread at a time may call it: see
    /// [`super::CpuSampler`], whose lock of stacks it holds.
    pub fn take(&self, mut each: impl FnMut(Taken<'_>)) {
        for (at, slot) in self.slots.iter().enumerate() {
            if slot.state.load(Ordering::Acquire) != FULL {
                continue;
            }
            let count = slot.count.load(Ordering::Relaxed);
            let stack = match usize::try_from(count) {
                Ok(count @ 1..) => {
                    // SAFETY: the slot is full: its handler has written so many frames (at most ROOM, see
                    // `put`) before it said so, and nobody writes to it until it is free again, below. Memory
                    // that was not written is zero.
                    Ok(unsafe { std::slice::from_raw_parts(self.room(at), count.min(FRAMES)) })
                }
                _ => Err(count),
            };
            each(Taken {
                stack,
                cut: count > FRAMES as i32,
                nanos: slot.nanos.load(Ordering::Relaxed),
                in_call: slot.in_call.load(Ordering::Relaxed),
                waits: Waits {
                    innermost: slot.innermost.get(),
                    callers: slot.callers.each_ref().map(WaitSlot::get),
                },
                instead: Some(NextCount {
                    ticket: slot.instead.load(Ordering::Relaxed),
                    slot: slot.instead_slot.load(Ordering::Relaxed),
                })
                .filter(|count| count.ticket != 0),
            });
            slot.state.store(FREE, Ordering::Release);
        }
    }

    /// Samples for which there was no slot since the last call, and their nanoseconds.
    pub fn take_lost(&self) -> (u64, u64) {
        let take = |number: &AtomicU64| number.swap(0, Ordering::Relaxed);
        (take(&self.lost), take(&self.lost_nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEXT: NextCount = NextCount { ticket: 8, slot: 5 };
    const WAIT: Wait = Wait {
        ticket: 3,
        depth: 1,
        represents: 1.5,
        is_doubtful: true,
    };

    fn put(buffer: &Buffer, count: i32, first: usize) {
        let found = buffer.put(2, |room, most| {
            for at in 0..count.clamp(0, most) as usize {
                let frame = RawFrame {
                    bci: at as i32,
                    method: first + at,
                };
                // SAFETY: there is room for `most` frames.
                unsafe { room.add(at).write(frame) };
            }
            Some(Stack {
                in_call: first == 10,
                waits: Waits {
                    innermost: (first == 10).then_some(WAIT),
                    callers: [None; CALLERS],
                },
                instead: (first == 10).then_some(NEXT),
                ..Stack::of(count)
            })
        });
        if !found {
            buffer.lose(2);
        }
    }

    #[test]
    fn stacks_come_out_as_they_went_in_and_what_has_no_room_is_lost() {
        let buffer = Buffer::new(3).unwrap();
        for round in 0..3 {
            put(&buffer, 2, 10);
            put(&buffer, -5, 0);
            put(&buffer, ROOM as i32, 1);
            put(&buffer, 1, 7);
            let mut taken = Vec::new();
            buffer.take(|sample| {
                assert_eq!(sample.nanos, 2);
                assert_eq!(
                    sample.in_call,
                    sample.stack.is_ok_and(|stack| stack[0].method == 10)
                );
                assert_eq!(sample.waits.innermost, sample.in_call.then_some(WAIT));
                assert_eq!(sample.waits.callers, [None; CALLERS]);
                assert_eq!(sample.instead, sample.in_call.then_some(NEXT));
                taken.push((sample.stack.map(|s| (s.len(), s[0].method, s[1].bci)), sample.cut));
            });
            assert_eq!(
                taken,
                [
                    (Ok((2, 10, 1)), false),
                    (Err(-5), false),
                    (Ok((FRAMES, 1, 1)), true)
                ]
            );
            assert_eq!(buffer.take_lost(), (1, 2), "round {round}");
            assert!(buffer.put(2, |_, _| None), "nothing comes of it");
        }
        buffer.take(|sample| panic!("{sample:?}"));
    }

    #[test]
    fn many_threads_lose_nothing_silently() {
        const EACH: usize = 20_000;
        let buffer = Buffer::new(8).unwrap();
        let mut seen = 0;
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4usize)
                .map(|thread| {
                    let buffer = &buffer;
                    scope.spawn(move || (0..EACH).for_each(|_| put(buffer, 40, thread << 32)))
                })
                .collect();
            loop {
                let done = threads.iter().all(|thread| thread.is_finished());
                buffer.take(|sample| {
                    let frames = sample.stack.unwrap();
                    let first = frames[0].method;
                    // All of one thread.
                    assert!(
                        frames
                            .iter()
                            .enumerate()
                            .all(|(at, frame)| frame.method == first + at)
                    );
                    seen += 1;
                });
                if done {
                    break;
                }
            }
        });
        assert_eq!(seen + buffer.take_lost().0 as usize, 4 * EACH);
    }
}
