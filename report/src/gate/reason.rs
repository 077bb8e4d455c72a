//! Why two runs of the same test differ, as far as the calls of the method that differs can tell.

use std::collections::HashSet;

use trodden_insight::gate::Measured;
use trodden_profile::{Callee, ShapeHasher};

/// A class, a method of it by name and descriptor or any, and what a method does that calls it.
type Source = (&'static str, Option<(&'static str, &'static str)>, &'static str);

/// A source of differences between runs: calls of one method, or of any method of a class.
const SOURCES: &[Source] = &[
    ("java/lang/System", Some(("nanoTime", "()J")), "reads the clock"),
    (
        "java/lang/System",
        Some(("currentTimeMillis", "()J")),
        "reads the clock",
    ),
    ("java/time/Clock", None, "reads the clock"),
    (
        "java/time/Instant",
        Some(("now", "()Ljava/time/Instant;")),
        "reads the clock",
    ),
    (
        "java/time/LocalDateTime",
        Some(("now", "()Ljava/time/LocalDateTime;")),
        "reads the clock",
    ),
    ("java/util/Date", Some(("<init>", "()V")), "reads the clock"),
    ("java/util/Random", None, "takes random numbers"),
    (
        "java/util/concurrent/ThreadLocalRandom",
        None,
        "takes random numbers",
    ),
    ("java/util/SplittableRandom", None, "takes random numbers"),
    ("java/security/SecureRandom", None, "takes random numbers"),
    ("java/lang/Math", Some(("random", "()D")), "takes random numbers"),
    (
        "java/util/UUID",
        Some(("randomUUID", "()Ljava/util/UUID;")),
        "takes random numbers",
    ),
    (
        "java/lang/System",
        Some(("identityHashCode", "(Ljava/lang/Object;)I")),
        "uses identity hash codes",
    ),
    (
        "java/lang/Object",
        Some(("hashCode", "()I")),
        "uses hash codes, which may differ from run to run",
    ),
    ("java/lang/Thread", None, "works with threads"),
    ("java/util/concurrent/ExecutorService", None, "works with threads"),
    ("java/util/concurrent/Executor", None, "works with threads"),
    (
        "java/util/concurrent/CompletableFuture",
        None,
        "works with threads",
    ),
    ("java/util/concurrent/ForkJoinPool", None, "works with threads"),
    ("java/util/concurrent/Future", None, "works with threads"),
    (
        "java/util/concurrent/atomic/AtomicInteger",
        None,
        "works with threads",
    ),
    (
        "java/util/concurrent/atomic/AtomicLong",
        None,
        "works with threads",
    ),
    (
        "java/util/concurrent/locks/LockSupport",
        None,
        "works with threads",
    ),
    ("java/lang/Object", Some(("wait", "()V")), "works with threads"),
    ("java/lang/Object", Some(("wait", "(J)V")), "works with threads"),
    (
        "java/lang/ref/WeakReference",
        None,
        "looks at references that the garbage collector clears",
    ),
    (
        "java/lang/ref/SoftReference",
        None,
        "looks at references that the garbage collector clears",
    ),
    ("java/lang/reflect/Method", None, "calls by reflection"),
    (
        "java/lang/Class",
        Some(("getMethods", "()[Ljava/lang/reflect/Method;")),
        "lists members, in no fixed order",
    ),
    (
        "java/lang/Class",
        Some(("getDeclaredMethods", "()[Ljava/lang/reflect/Method;")),
        "lists members, in no fixed order",
    ),
    (
        "java/util/Set",
        Some(("iterator", "()Ljava/util/Iterator;")),
        "iterates over a set, whose order may differ from run to run",
    ),
    (
        "java/util/Map",
        Some(("entrySet", "()Ljava/util/Set;")),
        "iterates over a map, whose order may differ from run to run",
    ),
    (
        "java/util/Map",
        Some(("keySet", "()Ljava/util/Set;")),
        "iterates over a map, whose order may differ from run to run",
    ),
    (
        "java/util/Map",
        Some(("values", "()Ljava/util/Collection;")),
        "iterates over a map, whose order may differ from run to run",
    ),
    ("java/util/HashMap", None, "uses a hash map"),
    ("java/util/HashSet", None, "uses a hash set"),
    ("java/nio/file/Files", None, "reads files"),
    ("java/io/File", None, "reads files"),
    ("java/net/Socket", None, "uses the network"),
    ("java/net/URLConnection", None, "uses the network"),
    ("java/net/HttpURLConnection", None, "uses the network"),
    ("java/net/http/HttpClient", None, "uses the network"),
    ("java/nio/channels/SocketChannel", None, "uses the network"),
    (
        "java/io/InputStream",
        None,
        "reads from a stream, whose pieces may differ from run to run",
    ),
];

/// How many callers away from the method that differs a reason is looked for.
const FAR: usize = 3;

/// The call in a method, or in those that call it, that may be the reason that it differs.
pub fn of(run: &Measured, name: &(String, String)) -> Option<String> {
    if name.1.starts_with("<clinit>") {
        return Some("which initialises its class".to_owned());
    }
    let mut seen: HashSet<&(String, String)> = HashSet::new();
    let mut level = vec![run.methods.get_key_value(name)?];
    for distance in 0..=FAR {
        for (title, method) in &level {
            if let Some(why) = source(&method.callees) {
                let (class, name) = title;
                return Some(match distance {
                    0 => format!("which {why}"),
                    _ => format!("called from {class}.{name}, which {why}"),
                });
            }
        }
        let called: HashSet<Callee> = level.iter().map(|(_, method)| method.own).collect();
        let methods: HashSet<u32> = called.iter().map(|callee| callee.method).collect();
        seen.extend(level.iter().map(|(name, _)| *name));
        // A call may name a superclass or an interface: then only the method's name tells.
        level = run
            .methods
            .iter()
            .filter(|(name, _)| !seen.contains(name))
            .filter(|(_, method)| method.callees.iter().any(|c| methods.contains(&c.method)))
            .collect();
    }
    anywhere(run)
}

/// What a method says that the test runs somewhere, far from what differs: of the kinds that are hardly ever there
/// without an effect, the first of the table.
fn anywhere(run: &Measured) -> Option<String> {
    const TELLING: [&str; 4] = [
        "takes random numbers",
        "reads the clock",
        "uses identity hash codes",
        "uses the network",
    ];
    TELLING.into_iter().find_map(|why| {
        let mut methods = run.methods.iter();
        let ((class, name), _) = methods.find(|(_, method)| {
            SOURCES
                .iter()
                .any(|entry| entry.2 == why && calls(&method.callees, entry))
        })?;
        Some(format!("perhaps because of {class}.{name}, which {why}"))
    })
}

fn source(callees: &[Callee]) -> Option<&'static str> {
    let found = SOURCES.iter().find(|entry| calls(callees, entry));
    found.map(|(_, _, why)| *why)
}

fn calls(callees: &[Callee], (class, member, _): &Source) -> bool {
    match member {
        Some((name, descriptor)) => callees.contains(&Callee::new(class, name, descriptor)),
        None => {
            let owner = ShapeHasher::of_name(class.as_bytes()) as u32;
            callees.iter().any(|callee| callee.owner == owner)
        }
    }
}
