//! End-to-end tests of Trodden, from the outside: JVMs are started with and without the agent.
//!
//! *In*: Java, Kotlin and Scala sources (`targets/`, `polyglot/`), generators of class files (`generate/`),
//! and the built agent and command line. *Out*: verdicts. The parts:
//!
//! - [`jdk`], [`build`], [`artefacts`], [`process`]: JDKs, compiling (cached in `build/`), our binaries,
//!   running;
//! - [`target`], [`expect`]: the targets and the language of their `// expect` comments (see `README.md`);
//! - [`auto`]: classes that lose their probes and get them back;
//! - [`structural`]: profiles of structure graphs against the oracle;
//! - [`ahead`]: code that `trodden instrument` wrote, run without the agent;
//! - [`profile`]: running a target under the agent and reading what it wrote;
//! - [`trace`], [`walk`]: the oracle: a log of all branches by an ASM agent (`oracle/`), and the slow,
//!   obvious way from such a log to path counts (Ball and Larus' definition of a path, as in PEP section 3.1
//!   and 3.2);
//! - [`javap`], [`feasible`]: is what a report says possible by `javap`'s listing of the code?
//! - [`live`]: profiles that appear while the program runs;
//! - [`pages`]: the commands of the documentation;
//! - [`contexts`], [`obedient`], [`contexts_apps`]: calling contexts against an oracle that walks the stack
//!   at each call;
//! - [`events`]: the event stream: live, recorded and replayed, and under commands from outside;
//! - [`spool`]: JVMs that write windows;
//! - [`chance`]: estimates, which are off by chance now and then;
//! - [`stress`]: threads, unloading, attaching, ways to end;
//! - [`sweep`]: every class of a JDK and of jars, rewritten and shown to HotSpot's verifier.

pub mod ahead;
pub mod artefacts;
pub mod auto;
pub mod build;
pub mod burst;
pub mod chance;
pub mod changes;
pub mod conditions;
pub mod contexts;
pub mod contexts_apps;
pub mod covered;
pub mod events;
pub mod expect;
pub mod feasible;
pub mod jacoco;
pub mod javap;
pub mod jdk;
pub mod live;
pub mod obedient;
pub mod old_javac;
pub mod pages;
pub mod process;
pub mod profile;
pub mod readers;
pub mod recorded;
pub mod spool;
pub mod stress;
pub mod structural;
pub mod subpaths;
pub mod sweep;
pub mod talker;
pub mod target;
pub mod trace;
pub mod walk;
pub mod ways;

/// Any error: tests only ever print them.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
/// Result with any error.
pub type Result<T> = std::result::Result<T, Error>;
