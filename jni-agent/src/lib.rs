//! The JVMTI agent, `libtrodden.so`.
//!
//! *In*: classes as the JVM loads them, ticks of a clock, commands. *Out*: classes with probes (made by
//! `trodden-instrumenter`), samples and counts from the Java shim (`java-shim/`), a `.trodden` profile file.
//! It is the online half of PEP (Bond and McKinley, MICRO 2005): path numbers as in section 3, sampled as in section 4.4
//! by a clock that opens a window of path ends (the paper's yieldpoint), edges from sampled paths as in section 4.3.
//!
//! | module | work |
//! | --- | --- |
//! | `entry`, `natives` | the functions that the JVM and the shim call |
//! | `control` | commands: start, stop, dump, reset, status |
//! | `agent` | state; starting, stopping |
//! | `settings`, `log` | options turned into settings; messages |
//! | `hook`, `registry`, `retransform` | classes: rewriting, ids, sending loaded ones through the hook again |
//! | `shim` | the Java half: defining it, arming it, reading it |
//! | `blocks`, `events` | native memory of threads: counters and streams of events, the way of the latter to the analyses |
//! | `clock`, `ticker`, `collector`, `safepoint` | when, what then, what of it is kept, and the probe that reads frames |
//! | `strata` | where path ends of a window of fixed duration go in the ring, and how many one stands for |
//! | `structural` | `profile=structural`: windows of structure graphs, and what follows from them |
//! | `controller` | `probe=auto` and structural profiles: takes probes out where enough is known |
//! | `ahead` | code that was instrumented before the run, and starts us when its first probe is hit |
//! | `method_events` | bursts of the JVM's own events in place of probes |
//! | `walk` | the stack of a thread that joins a burst |
//! | `dump`, `record` | the profile file; the trace |
//! | `jvm` | the thin layer over JNI and JVMTI, and the policy for panics |
//!
//! The only crate of the workspace with `unsafe` code: all of it is in `jvm`, `entry`, `natives`, `blocks`, `stack` and some lines of `clock` and `events`.

mod agent;
mod ahead;
mod blocks;
mod clock;
mod collector;
mod control;
mod controller;
mod dump;
mod entry;
mod events;
mod hook;
mod jvm;
mod log;
mod method_events;
mod natives;
mod record;
mod registry;
mod retransform;
mod safepoint;
mod settings;
mod shim;
mod stack;
mod strata;
mod structural;
mod ticker;
mod walk;
