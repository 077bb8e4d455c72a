//! The JVM's compilers: how much they have run.

/// Processor time of the JVM's compiler threads so far, in seconds; 0 where the system does not say.
pub fn compiler_seconds() -> f64 {
    let ticks = compiler_ticks().unwrap_or(0);
    // The number of clock ticks per second is 100 on every Linux that HotSpot runs on (USER_HZ).
    ticks as f64 / 100.0
}

fn compiler_ticks() -> Option<u64> {
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
        // A thread may end meanwhile.
        let Ok(stat) = std::fs::read_to_string(task.path().join("stat")) else {
            continue;
        };
        sum += ticks_of_compiler(&stat).unwrap_or(0);
    }
    Some(sum)
}

/// User and system time, if this is a compiler thread's line: `pid (C2 CompilerThre) S …`.
fn ticks_of_compiler(stat: &str) -> Option<u64> {
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
    let compiler = name.starts_with("C1 Compiler") || name.starts_with("C2 Compiler");
    let mut fields = rest.split(' ').skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    compiler.then(|| Some(next()? + next()?)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiler_threads_are_known_by_name() {
        let line = "77 (C2 CompilerThre) S 1 1 1 0 -1 4194368 100 0 0 0 1234 66 0 0 20 0 30 0 1 2 3";
        assert_eq!(ticks_of_compiler(line), Some(1300));
        assert_eq!(
            ticks_of_compiler(&line.replace("C2 CompilerThre", "GC Thread#0")),
            None
        );
        assert_eq!(ticks_of_compiler(&line.replace("C2 Comp", "x) (y")), None);
        assert_eq!(ticks_of_compiler("nonsense"), None);
    }
}
