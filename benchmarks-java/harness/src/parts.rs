//! The processor time of a JVM by what its threads are for.

use std::collections::BTreeMap;

/// What a thread is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Runs the program: its code, and what the JVM and an agent do for it there, such as loading and
    /// rewriting classes.
    Program,
    /// Compiles by C1.
    C1,
    /// Compiles by C2.
    C2,
    /// Is the agent's.
    Agent,
    /// Does something else for the JVM, such as collecting garbage.
    Jvm,
}

impl Part {
    /// All of them, with the words for a table.
    pub const ALL: [(Part, &str); 5] = [
        (Part::Program, "the program's threads"),
        (Part::C1, "C1"),
        (Part::C2, "C2"),
        (Part::Agent, "the agent's threads"),
        (Part::Jvm, "the JVM's"),
    ];

    /// By the name that the system knows: at most 15 bytes of it.
    fn of(name: &str) -> Part {
        const JVM: [&str; 9] = [
            "VM ",
            "GC ",
            "G1 ",
            "Common-Cleaner",
            "Finalizer",
            "Reference Handl",
            "Signal Dispatch",
            "Monitor ",
            "Service Thread",
        ];
        if name.starts_with("C1 ") {
            Part::C1
        } else if name.starts_with("C2 ") {
            Part::C2
        } else if name.starts_with("Trodden") || name.starts_with("trodden") {
            Part::Agent
        } else if JVM.iter().any(|prefix| name.starts_with(prefix)) {
            Part::Jvm
        } else {
            Part::Program
        }
    }
}

/// The processor time of each thread of a process that was ever looked up.
#[derive(Debug, Default)]
pub struct Parts {
    threads: BTreeMap<u32, (Part, u64)>,
}

impl Parts {
    /// Looks all threads of a process up. What a thread does between the last look and its end is not known.
    pub fn look(&mut self, process: u32) {
        let folder = format!("/proc/{process}/task");
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            // None: the thread has just ended.
            if let Some((thread, part, nanos)) = thread(&entry.path()) {
                self.threads.insert(thread, (part, nanos));
            }
        }
    }

    /// Processor time of a part, in milliseconds.
    pub fn milliseconds(&self, part: Part) -> f64 {
        let nanos = self
            .threads
            .values()
            .filter(|(of, _)| *of == part)
            .map(|(_, nanos)| nanos);
        nanos.sum::<u64>() as f64 / 1e6
    }
}

/// Id, part and processor time in nanoseconds of a thread.
fn thread(folder: &std::path::Path) -> Option<(u32, Part, u64)> {
    let id = folder.file_name()?.to_str()?.parse().ok()?;
    let name = std::fs::read_to_string(folder.join("comm")).ok()?;
    let times = std::fs::read_to_string(folder.join("schedstat")).ok()?;
    Some((
        id,
        Part::of(name.trim_end()),
        times.split(' ').next()?.parse().ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_threads_are_for() {
        let of = [
            "main",
            "C1 CompilerThre",
            "C2 CompilerThre",
            "Trodden samples",
            "VM Thread",
            "G1 Main Marker",
            "pool-1-thread-1",
        ];
        let parts = [
            Part::Program,
            Part::C1,
            Part::C2,
            Part::Agent,
            Part::Jvm,
            Part::Jvm,
            Part::Program,
        ];
        assert_eq!(of.map(Part::of), parts);
    }

    #[test]
    fn a_process_that_works_has_processor_time() {
        let mut parts = Parts::default();
        parts.look(std::process::id());
        let before = parts.milliseconds(Part::Program);
        let busy = std::time::Instant::now();
        while busy.elapsed().as_millis() < 30 {
            std::hint::spin_loop();
        }
        parts.look(std::process::id());
        assert!(parts.milliseconds(Part::Program) > before);
        let mut gone = Parts::default();
        gone.look(u32::MAX);
        assert_eq!(gone.milliseconds(Part::Program), 0.0);
    }
}
