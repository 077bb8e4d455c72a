//! Why two runs of the same test differ, as far as the calls of the method that differs can tell.

use std::collections::HashSet;

use trodden_insight::gate::Measured;
use trodden_profile::{Callee, ShapeHasher};

/// A class, and a method of it by name and descriptor, or any.
type Called = (&'static str, Option<(&'static str, &'static str)>);

/// Sources of differences between runs: what a method does that calls one of these.
const SOURCES: &[(&str, &[Called])] = &[
    (
        "reads the clock",
        &[
            ("java/lang/System", Some(("nanoTime", "()J"))),
            ("java/lang/System", Some(("currentTimeMillis", "()J"))),
            ("java/time/Clock", None),
            ("java/time/Instant", Some(("now", "()Ljava/time/Instant;"))),
            (
                "java/time/LocalDateTime",
                Some(("now", "()Ljava/time/LocalDateTime;")),
            ),
            ("java/util/Date", Some(("<init>", "()V"))),
        ],
    ),
    (
        "takes random numbers",
        &[
            ("java/util/Random", None),
            ("java/util/concurrent/ThreadLocalRandom", None),
            ("java/util/SplittableRandom", None),
            ("java/security/SecureRandom", None),
            ("java/lang/Math", Some(("random", "()D"))),
            ("java/util/UUID", Some(("randomUUID", "()Ljava/util/UUID;"))),
        ],
    ),
    (
        "uses identity hash codes",
        &[(
            "java/lang/System",
            Some(("identityHashCode", "(Ljava/lang/Object;)I")),
        )],
    ),
    (
        "uses hash codes, which may differ from run to run",
        &[("java/lang/Object", Some(("hashCode", "()I")))],
    ),
    (
        "works with threads",
        &[
            ("java/lang/Thread", None),
            ("java/util/concurrent/ExecutorService", None),
            ("java/util/concurrent/Executor", None),
            ("java/util/concurrent/CompletableFuture", None),
            ("java/util/concurrent/ForkJoinPool", None),
            ("java/util/concurrent/Future", None),
            ("java/util/concurrent/atomic/AtomicInteger", None),
            ("java/util/concurrent/atomic/AtomicLong", None),
            ("java/util/concurrent/locks/LockSupport", None),
            ("java/lang/Object", Some(("wait", "()V"))),
            ("java/lang/Object", Some(("wait", "(J)V"))),
        ],
    ),
    (
        "looks at references that the garbage collector clears",
        &[
            ("java/lang/ref/WeakReference", None),
            ("java/lang/ref/SoftReference", None),
        ],
    ),
    ("calls by reflection", &[("java/lang/reflect/Method", None)]),
    (
        "lists members, in no fixed order",
        &[
            (
                "java/lang/Class",
                Some(("getMethods", "()[Ljava/lang/reflect/Method;")),
            ),
            (
                "java/lang/Class",
                Some(("getDeclaredMethods", "()[Ljava/lang/reflect/Method;")),
            ),
        ],
    ),
    (
        "iterates over a set, whose order may differ from run to run",
        &[("java/util/Set", Some(("iterator", "()Ljava/util/Iterator;")))],
    ),
    (
        "iterates over a map, whose order may differ from run to run",
        &[
            ("java/util/Map", Some(("entrySet", "()Ljava/util/Set;"))),
            ("java/util/Map", Some(("keySet", "()Ljava/util/Set;"))),
            ("java/util/Map", Some(("values", "()Ljava/util/Collection;"))),
        ],
    ),
    ("uses a hash map", &[("java/util/HashMap", None)]),
    ("uses a hash set", &[("java/util/HashSet", None)]),
    (
        "reads files",
        &[("java/nio/file/Files", None), ("java/io/File", None)],
    ),
    (
        "uses the network",
        &[
            ("java/net/Socket", None),
            ("java/net/URLConnection", None),
            ("java/net/HttpURLConnection", None),
            ("java/net/http/HttpClient", None),
            ("java/nio/channels/SocketChannel", None),
        ],
    ),
    (
        "reads from a stream, whose pieces may differ from run to run",
        &[("java/io/InputStream", None)],
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
        let (_, called) = SOURCES.iter().find(|(source, _)| *source == why)?;
        let ((class, name), _) = methods.find(|(_, method)| calls(&method.callees, called))?;
        Some(format!("perhaps because of {class}.{name}, which {why}"))
    })
}

fn source(callees: &[Callee]) -> Option<&'static str> {
    let found = SOURCES.iter().find(|(_, called)| calls(callees, called));
    found.map(|(why, _)| *why)
}

fn calls(callees: &[Callee], called: &[Called]) -> bool {
    called.iter().any(|(class, member)| match member {
        Some((name, descriptor)) => callees.contains(&Callee::new(class, name, descriptor)),
        None => {
            let owner = ShapeHasher::of_name(class.as_bytes()) as u32;
            callees.iter().any(|callee| callee.owner == owner)
        }
    })
}
