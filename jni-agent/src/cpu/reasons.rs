//! Why a sample has no stack.

/// The JVM's number for a thread that ends.
pub const THREAD_EXIT: i32 = -8;

/// Why there is no stack, as the JVM says it (share/prims/forte.cpp): its number, the name of a frame that
/// stands for it, the reason in facts.
const REASONS: &[(i32, &str, &str)] = &[
    (0, "[no Java frame]", "no-java-frame"),
    (-1, "[JVM]", "class-load-events-off"),
    (-2, "[GC]", "gc-active"),
    (-3, "[JVM]", "unknown-not-java"),
    (-4, "[JVM]", "not-walkable-not-java"),
    (-5, "[unknown Java frame]", "unknown-java"),
    (-6, "[unknown Java frame]", "not-walkable-java"),
    (-7, "[JVM]", "unknown-state"),
    (THREAD_EXIT, "[thread exit]", "thread-exit"),
    (-9, "[deoptimization]", "deoptimization"),
    (-10, "[safepoint]", "safepoint"),
];

/// The name of the frame that stands for it.
pub fn place(reason: i32) -> &'static str {
    let known = REASONS.iter().find(|(number, ..)| *number == reason);
    known.map_or("[JVM]", |(_, place, _)| place)
}

/// The reason in facts.
pub fn reason(reason: i32) -> String {
    let known = REASONS.iter().find(|(number, ..)| *number == reason);
    known.map_or_else(
        || format!("code-{}", -reason),
        |(_, _, reason)| (*reason).to_owned(),
    )
}
