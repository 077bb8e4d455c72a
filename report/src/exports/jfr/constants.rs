//! What events refer to by number: names, methods, stacks.

use trodden_profile::{CpuFrame, CpuFrameKind};

use super::bytes::Bytes;
use super::metadata::{CHECKPOINT, CLASS, FRAME_TYPE, METHOD, PACKAGE, STACK, SYMBOL, THREAD, THREAD_STATE};
use crate::exports::strings::Strings;

/// Number of the one thread, and of the one state.
pub(super) const ONLY: u64 = 1;
/// The name of the thread of all samples: a profile does not say which thread a sample is of.
const ALL_THREADS: &str = "all threads";
/// What is no method has no parameters either.
const NO_PARAMETERS: &str = "()V";
/// As readers know it where a line or a bytecode index is not known.
const UNKNOWN: i32 = -1;

/// Kinds of frames, with the numbers of HotSpot (1: compiled, 3: native), by which some readers go. Whether code
/// was compiled when the sample was taken is not known.
const FRAME_TYPES: [(CpuFrameKind, u64, &str); 3] = [
    (CpuFrameKind::Java, 1, "Java"),
    (CpuFrameKind::Native, 3, "Native"),
    (CpuFrameKind::Other, 4, "Other"),
];

/// A frame of a stack.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Position among the profile's frames.
    pub frame: u32,
    pub line: Option<u32>,
    pub bci: Option<u16>,
}

/// A name's number among constants: from 1, as 0 is none.
fn numbered(names: &mut Strings, name: &str) -> u64 {
    names.number(name) as u64 + 1
}

/// A list of constants of a type.
struct Pool {
    kind: u32,
    count: u64,
    bytes: Bytes,
}

impl Pool {
    fn new(kind: u32) -> Self {
        Pool {
            kind,
            count: 0,
            bytes: Bytes::default(),
        }
    }

    fn add(&mut self, number: u64, write: impl FnOnce(&mut Bytes)) {
        self.count += 1;
        self.bytes.number(number);
        write(&mut self.bytes);
    }
}

/// The stacks of events, by number from 1.
pub(super) struct Stacks<'p> {
    frames: &'p [CpuFrame],
    pool: Pool,
    /// Most frames of a stack; it has the innermost ones.
    deepest: usize,
}

impl<'p> Stacks<'p> {
    pub fn new(frames: &'p [CpuFrame], deepest: usize) -> Self {
        Stacks {
            frames,
            pool: Pool::new(STACK),
            deepest,
        }
    }

    /// Adds a stack, its outermost frame first, and returns its number.
    pub fn add(&mut self, stack: &[Place]) -> u64 {
        let number = self.pool.count + 1;
        let kept = &stack[stack.len().saturating_sub(self.deepest)..];
        let frames = self.frames;
        self.pool.add(number, |out| {
            out.byte((kept.len() < stack.len()).into());
            out.number(kept.len() as u64);
            for place in kept.iter().rev() {
                out.number(u64::from(place.frame) + 1);
                out.int(
                    place
                        .line
                        .and_then(|line| line.try_into().ok())
                        .unwrap_or(UNKNOWN),
                );
                out.int(place.bci.map_or(UNKNOWN, i32::from));
                let kind = frames[place.frame as usize].kind;
                let number = FRAME_TYPES.iter().find(|(of, ..)| *of == kind);
                out.number(number.map_or(0, |&(_, number, _)| number));
            }
        });
        number
    }

    /// Writes the event with all constants.
    pub fn write(self, out: &mut Bytes) {
        let mut symbols = Strings::default();
        let (mut packages, mut classes) = (Strings::default(), Strings::default());
        let mut methods = Pool::new(METHOD);
        for (number, frame) in (1..).zip(self.frames) {
            let descriptor = match frame.kind {
                CpuFrameKind::Other => NO_PARAMETERS,
                _ => &frame.descriptor,
            };
            let class = numbered(&mut classes, &frame.class);
            let name = numbered(&mut symbols, &frame.name);
            let descriptor = numbered(&mut symbols, descriptor);
            methods.add(number, |out| {
                for number in [class, name, descriptor] {
                    out.number(number);
                }
            });
        }
        let mut of_classes = Pool::new(CLASS);
        for (number, class) in (1..).zip(classes.all()) {
            let package = class
                .rsplit_once('/')
                .map(|(package, _)| numbered(&mut packages, package));
            let name = numbered(&mut symbols, class);
            of_classes.add(number, |out| {
                out.number(name);
                out.number(package.unwrap_or(0));
            });
        }
        let mut of_packages = Pool::new(PACKAGE);
        for (number, package) in (1..).zip(packages.all()) {
            let name = numbered(&mut symbols, package);
            of_packages.add(number, |out| out.number(name));
        }
        let mut texts = Pool::new(SYMBOL);
        for (number, symbol) in (1..).zip(symbols.all()) {
            texts.add(number, |out| out.text(symbol));
        }
        let mut types = Pool::new(FRAME_TYPE);
        for (_, number, text) in FRAME_TYPES {
            types.add(number, |out| out.text(text));
        }
        let mut states = Pool::new(THREAD_STATE);
        states.add(ONLY, |out| out.text("STATE_RUNNABLE"));
        let mut threads = Pool::new(THREAD);
        threads.add(ONLY, |out| {
            for _ in ["system", "Java"] {
                out.text(ALL_THREADS);
                out.number(ONLY);
            }
        });
        // No reader takes a list without entries.
        let pools = [
            texts,
            of_packages,
            of_classes,
            methods,
            types,
            self.pool,
            states,
            threads,
        ];
        let pools: Vec<Pool> = pools.into_iter().filter(|pool| pool.count > 0).collect();
        out.event(CHECKPOINT, |event| {
            // Time, duration, distance to the constants before, kind.
            for number in [0, 0, 0] {
                event.number(number);
            }
            event.byte(0);
            event.number(pools.len() as u64);
            for pool in &pools {
                event.number(pool.kind.into());
                event.number(pool.count);
                event.append(&pool.bytes);
            }
        });
    }
}
