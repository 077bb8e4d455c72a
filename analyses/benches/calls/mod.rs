//! Synthetic streams of calls and returns with fixed seeds. What each is a picture of stands with it.

#[path = "../random/mod.rs"]
mod random;

use random::Random;
use trodden_analyses::contexts::{ContextSink, Frame};

/// A stream and its name.
pub struct Stream {
    /// For tables.
    pub name: &'static str,
    /// One thread's events: method and call site of a call, or [`RETURN`].
    pub calls: Vec<u64>,
}

const RETURN: u64 = u64::MAX;

/// Hands the events to a sink, one by one.
#[inline(always)]
pub fn feed(sink: &mut impl ContextSink, calls: &[u64]) {
    for &call in calls {
        match call {
            RETURN => sink.exit(),
            call => sink.enter(Frame::new((call >> 16) as u32, call as u16), 1),
        }
    }
}

impl Random {
    /// Number `i` below `n` about in proportion to 1 / (i + 1).
    fn zipf(&mut self, n: u64) -> u64 {
        let uniform = self.below(1 << 31) as f64 / (1u64 << 31) as f64;
        ((n as f64 + 1.0).powf(uniform) as u64 - 1).min(n - 1)
    }
}

/// A program as a profiler of calls sees it: a loop that does *tasks*, some of them very often. A
/// task is always the same tree of calls but for a few calls that go elsewhere.
struct Program {
    tasks: u64,
    /// Calls of a task, on average.
    calls: u64,
    methods: u64,
    /// Call sites of a method.
    sites: u64,
    /// One in this number of calls outside of loops goes elsewhere than the last time.
    surprise: u64,
    /// Depth at which calls and returns balance.
    depth: u64,
}

/// Three streams of about `events` events each.
pub fn all(events: usize) -> Vec<Stream> {
    let stream = |name, program: Program| Stream {
        name,
        calls: program.run(events),
    };
    vec![
        // A kernel: few contexts, everything fits into the cache.
        stream(
            "kernel",
            Program {
                tasks: 30,
                calls: 60,
                methods: 100,
                sites: 3,
                surprise: 5_000,
                depth: 6,
            },
        ),
        // A server or compiler: many contexts, some hot.
        stream(
            "layered",
            Program {
                tasks: 30_000,
                calls: 300,
                methods: 5_000,
                sites: 6,
                surprise: 300,
                depth: 15,
            },
        ),
        // Interpreters and visitors: outside of loops, every 20th call goes somewhere new.
        stream(
            "scattered",
            Program {
                tasks: 100_000,
                calls: 500,
                methods: 20_000,
                sites: 20,
                surprise: 20,
                depth: 25,
            },
        ),
    ]
}

impl Program {
    fn run(&self, events: usize) -> Vec<u64> {
        let mut random = Random(42);
        let mut out = Vec::with_capacity(events + 16 * self.calls as usize);
        out.push(0); // main
        while out.len() < events {
            let task = random.zipf(self.tasks);
            // What the task does depends on its number alone.
            let mut fixed = Random(task.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let calls = 1 + fixed.below(2 * self.calls);
            self.task(&mut fixed, calls, &mut random, &mut out);
        }
        out
    }

    fn task(&self, fixed: &mut Random, calls: u64, random: &mut Random, out: &mut Vec<u64>) {
        let (mut depth, mut done) = (0, 0);
        while done < calls || depth > 0 {
            let back = fixed.below(2 * self.depth) < depth || done == calls;
            if back && depth > 0 {
                out.push(RETURN);
                depth -= 1;
                continue;
            }
            let mut to = fixed.zipf(self.methods);
            let site = fixed.zipf(self.sites) * 3;
            if random.below(self.surprise) == 0 {
                to = random.below(self.methods);
            }
            out.push((1 + to) << 16 | site);
            depth += 1;
            done += 1;
            // Loops that call one to three small methods, which call another one.
            if fixed.below(6) == 0 {
                let body: Vec<u64> = (0..=fixed.below(3))
                    .flat_map(|i| {
                        let (leaf, below) = (1 + fixed.zipf(self.methods), 1 + fixed.zipf(40));
                        [leaf << 16 | (60 + i), below << 16 | 5, RETURN, RETURN]
                    })
                    .collect();
                for _ in 0..fixed.zipf(400) {
                    out.extend_from_slice(&body);
                }
            }
        }
    }
}
