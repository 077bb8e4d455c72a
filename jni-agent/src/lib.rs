//! The JVMTI agent, `libtrodden.so`.
//!
//! *In*: classes as the JVM loads them, ticks of a clock, commands. *Out*: classes with probes (made by
//! `trodden-instrumenter`), samples and counts from the Java shim (`java-shim/`), a `.trodden` profile file.
//! It is the online half of PEP (Bond and McKinley, MICRO 2005): path numbers as in section 3, sampled as in
//! section 4.4 by a clock that opens a window of path ends (the paper's yieldpoint), edges from sampled paths
//! as in section 4.3.
//!
//! | room | work |
//! | --- | --- |
//! | `entry` | the functions that the JVM and the shim call |
//! | `session` | state; starting, stopping; commands; ticks of the clock; the profile file |
//! | `recorders` | one recorder per kind of probe: what it has counted, its part of each tick and of the profile |
//! | `controller` | `probe=auto` and structural profiles: takes probes out where enough is known |
//! | `structural` | `profile=structural`: windows of structure graphs, and what follows from them |
//! | `stream` | streams of events, the stacks of threads that join a burst, the JVM's own events, traces |
//! | `cpu` | where the CPU time goes: stacks by timers of threads |
//! | `sampling` | the clock, what is kept of each tick, and the probe that reads frames |
//! | `hotspot` | HotSpot's own counts of branches, of methods without probes |
//! | `host` | the JVM as the rooms above see it; what they take in place of the whole agent |
//! | `classes` | rewriting, ids, sending loaded classes through the hook again |
//! | `settings` | options turned into settings |
//! | `threads` | the native memory of threads, and the Java half: defining it, arming it, reading it |
//! | `jvm` | the thin layer over JNI and JVMTI, and the policy for panics |
//! | `locks`, `log` | locks that stay usable after a panic; messages |
//!
//! A room uses only rooms below it in this table. `tests/rooms` has the arrows, and checks them.
//!
//! The only crate of the workspace with `unsafe` code: all of it is in `jvm`, `entry`,
//! `threads`, `cpu` and some lines of `sampling/clock.rs` and `stream/events`.

mod classes;
mod controller;
mod cpu;
mod entry;
mod host;
mod hotspot;
mod jvm;
mod locks;
mod log;
mod recorders;
mod requests;
mod sampling;
mod session;
mod settings;
mod stream;
mod structural;
mod threads;
