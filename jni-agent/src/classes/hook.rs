//! The class file load hook's work: bytes in, bytes with probes out.

use std::sync::Arc;

use trodden_instrumenter::{ClassError, ClassIds, Preparation, Prepared, SkipReason};
use trodden_profile::{ClassMap, Skipped};

use crate::classes::registry::{NoIds, Registry, Slots};
use crate::jvm::{Panicked, catch};
use crate::log::debug;
use crate::settings::Settings;
use crate::threads::Switches;

/// Classes that the shim itself runs, by prefix: with counters in them it would call itself without end.
const RUN_BY_SHIM: &[&str] = &[
    "java/lang/Trodden",
    "java/lang/Thread",
    "java/lang/BaseVirtualThread",
    "java/lang/VirtualThread",
    "java/lang/Object",
    "java/lang/Class",
    "java/lang/Math",
    "java/lang/System",
    "java/lang/ref/",
    "java/util/Arrays",
    "jdk/internal/misc/",
    "jdk/internal/vm/",
    "jdk/internal/util/Preconditions",
];

/// In place of the name of a class that has none.
const NAMELESS: &str = "(class without a name)";

/// Why a class stays unchanged.
#[derive(Debug, thiserror::Error)]
enum Refused {
    /// With counters in it the shim would call itself without end.
    #[error("run by Trodden's own probes")]
    RunByShim,
    /// The class cannot be instrumented.
    #[error(transparent)]
    Class(#[from] ClassError),
    /// It gets no ids.
    #[error(transparent)]
    Ids(#[from] NoIds),
    /// An internal error.
    #[error(transparent)]
    Panic(#[from] Panicked),
}

/// The class with probes, or `None` if it stays unchanged. Safe to call from many threads at once.
///
/// `make_room`: for all probes of coverage below a number; false if there is none.
pub fn instrument(
    settings: &Settings,
    registry: &Registry,
    make_room: impl Fn(u32) -> bool,
    name: Option<&str>,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    let probed = put_probes(settings, registry, make_room, name, bytes);
    if settings.requests.is_empty() || name.is_some_and(|name| run_by_shim(settings, name)) {
        return probed.map(|probed| probed.bytes);
    }
    let so_far = probed.as_ref().map_or(bytes, |probed| &probed.bytes);
    let around = || {
        put_requests(
            settings,
            registry,
            so_far,
            probed.as_ref().map(|probed| &*probed.map),
        )
    };
    let around = catch("probes of requests", around).unwrap_or_else(|panic| Err(panic.into()));
    match around {
        Ok(Some(bytes)) => Some(bytes),
        Ok(None) => probed.map(|probed| probed.bytes),
        Err(reason) => {
            debug!("{} has no probes of requests: {reason}", name.unwrap_or(NAMELESS));
            probed.map(|probed| probed.bytes)
        }
    }
}

/// A class with probes around its methods that handle requests; `None` if it has none. `map`: the path map by
/// which it has got other probes.
fn put_requests(
    settings: &Settings,
    registry: &Registry,
    bytes: &[u8],
    map: Option<&ClassMap>,
) -> Result<Option<Vec<u8>>, Refused> {
    let number = |class: &str, method: &str| {
        let name = format!("{}#{method}", class.replace('/', "."));
        registry.requests.number(&name)
    };
    let Some(with) = settings.requests.put_into(bytes, number)? else {
        return Ok(None);
    };
    if let Some(map) = map {
        registry.move_code(map, &with.methods);
    }
    let refused = with.refused.into_iter().map(|(method, reason)| Skipped {
        class: with.class.clone(),
        method: Some(method),
        reason: format!("its requests are not seen: {reason}"),
    });
    registry.left_alone.add(refused);
    Ok((!with.methods.is_empty()).then_some(with.bytes))
}

/// A class with probes that count.
struct Probed {
    bytes: Vec<u8>,
    map: Arc<ClassMap>,
}

/// Puts in the probes that count.
///
/// `make_room`: for all probes of coverage below a number; false if there is none.
fn put_probes(
    settings: &Settings,
    registry: &Registry,
    make_room: impl Fn(u32) -> bool,
    name: Option<&str>,
    bytes: &[u8],
) -> Option<Probed> {
    // Hidden classes and some lambdas' come without a name; the instrumenter looks inside for it.
    if name.is_some_and(|name| !settings.instrumenter.options().filter.class(name)) {
        return None;
    }
    let result = match name {
        Some(name) if run_by_shim(settings, name) => Err(Refused::RunByShim),
        _ => {
            let rewrite = || rewrite(settings, registry, make_room, name, bytes);
            catch("the class file load hook", rewrite).unwrap_or_else(|panic| Err(panic.into()))
        }
    };
    result.unwrap_or_else(|reason| {
        let name = name.unwrap_or(NAMELESS);
        debug!("{name} stays as it is: {reason}");
        registry.left_alone.add([whole_class(name, reason)]);
        None
    })
}

fn run_by_shim(settings: &Settings, name: &str) -> bool {
    let prefixes = if settings.options.has_events_of_jvm() {
        // There are no probes, so there is only the shim.
        &RUN_BY_SHIM[..1]
    } else {
        RUN_BY_SHIM
    };
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// True for a class that `trodden instrument` adds, which is none of the program's.
fn is_runtime(name: &str) -> bool {
    let simple = name.rsplit('/').next().unwrap_or(name);
    let id = simple.strip_prefix("Trodden$").unwrap_or_default();
    id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit())
}

fn rewrite(
    settings: &Settings,
    registry: &Registry,
    make_room: impl Fn(u32) -> bool,
    name: Option<&str>,
    bytes: &[u8],
) -> Result<Option<Probed>, Refused> {
    let (preparation, guide) = prepare(settings, registry, name, bytes)?;
    if let Some(name) = name {
        registry.originals.keep_table(name, bytes);
    }
    match preparation {
        Preparation::Unchanged { skipped } => {
            let counts_itself = |s: &Skipped| {
                s.reason == SkipReason::AlreadyInstrumented.text()
                    && (registry.outputs.have(&s.class) || is_runtime(&s.class))
            };
            registry
                .left_alone
                .add(skipped.into_iter().filter(|s| !counts_itself(s)));
            Ok(None)
        }
        Preparation::Ready(prepared) => {
            if run_by_shim(settings, &prepared.map().name) {
                return Err(Refused::RunByShim);
            }
            let ids = match (&settings.switches, prepared.coverage()) {
                (Some(switches), _) => with_graphs(settings, registry, *switches, &prepared)?,
                (None, Some(coverage)) => registry.ids_with_room(prepared.map(), coverage, make_room)?,
                (None, None) => {
                    let slots = Slots::Paths(Arc::new(prepared.layout()));
                    registry.ids_with(prepared.map(), slots, guide)?.0
                }
            };
            registry.originals.keep(prepared.map(), bytes);
            registry.left_alone.add(prepared.skipped().iter().cloned());
            if settings.options.has_events_of_jvm() {
                // Now its methods have their numbers, and that is all.
                registry.set_code(prepared.map(), Vec::new());
                return Ok(None);
            }
            if let Some(silent) = registry.silenced.of(ids) {
                let counts = |method: usize| !silent.get(method).copied().unwrap_or(false);
                let any = (0..prepared.map().methods.len()).any(counts);
                return Ok(any.then(|| emit(settings, registry, &prepared, ids, counts)));
            }
            Ok(Some(emit(settings, registry, &prepared, ids, |_| true)))
        }
    }
}

/// The class with probes in the methods that count; the registry learns where instructions went if frames
/// are read.
fn emit(
    settings: &Settings,
    registry: &Registry,
    prepared: &Prepared<'_>,
    ids: ClassIds,
    counts: impl Fn(usize) -> bool,
) -> Probed {
    let map = Arc::clone(prepared.map());
    if !settings.reads_frames() {
        let bytes = prepared.emit_where(ids, counts);
        return Probed { bytes, map };
    }
    let (bytes, code) = prepared.emit_where_with_code(ids, counts);
    registry.set_code(&map, code);
    Probed { bytes, map }
}

/// Numbers a class; by the run's own profile, if its turn has come. Tells that profile's fingerprint, or 0.
fn prepare<'b>(
    settings: &Settings,
    registry: &Registry,
    name: Option<&str>,
    bytes: &'b [u8],
) -> Result<(Preparation<'b>, u64), ClassError> {
    let (instrumenter, guide) = settings.instrumenter_of(name);
    let preparation = instrumenter.prepare(bytes)?;
    // Counts by other numbers can be added up as long as they are those of the same paths.
    if let Preparation::Ready(prepared) = &preparation
        && guide != 0
        && !registry.has_same_paths(prepared.map())
    {
        return Ok((settings.instrumenter.prepare(bytes)?, 0));
    }
    Ok((preparation, guide))
}

/// Ids of a class whose structure graphs are counted. Their switches are on before any of its code runs.
fn with_graphs(
    settings: &Settings,
    registry: &Registry,
    switches: Switches,
    prepared: &Prepared,
) -> Result<ClassIds, NoIds> {
    let graphs = prepared.graphs();
    let slots: Vec<(u32, bool)> = (graphs.graphs().iter())
        .map(|graph| (graph.first, graph.dense))
        .collect();
    let (ids, new) = registry.ids_with(prepared.map(), Slots::Graphs(Arc::new(graphs)), 0)?;
    if new {
        let window = settings.options.structural.window;
        for (slot, dense) in slots {
            switches.set(ids.first_counter.plus(slot), Switches::at_first(window, dense));
        }
    }
    Ok(ids)
}

/// A class that stays unchanged.
pub fn whole_class(name: &str, reason: impl ToString) -> Skipped {
    Skipped {
        class: name.to_owned(),
        method: None,
        reason: reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trodden_instrumenter::Guide;
    use trodden_profile::options::{AgentCommand, Effect, options};
    use trodden_profile::{ClassProfile, MethodCounts, Pages, Profile};

    fn settings(text: &str) -> Settings {
        Settings::new(AgentCommand::parse(text).unwrap().options).unwrap()
    }

    #[test]
    fn damaged_classes_stay_and_are_listed() {
        let registry = Registry::default();
        let bytes = [0xca, 0xfe, 0xba, 0xbe, 0, 0];
        assert_eq!(
            instrument(
                &settings("probe=counters"),
                &registry,
                |_| true,
                Some("a/B"),
                &bytes
            ),
            None
        );
        let skipped = registry.left_alone.list();
        assert_eq!(skipped.len(), 1);
        assert_eq!(skipped[0].class, "a/B");
        assert!(skipped[0].reason.contains("offset"), "{}", skipped[0].reason);
    }

    /// A class with other numbers has other counters; sent through the hook again, it keeps these.
    #[test]
    fn classes_are_numbered_again_by_the_runs_own_counts() {
        let registry = Registry::default();
        let settings = settings("probe=counters,use-profile=own:1s");
        let bytes = include_bytes!("../../../instrumenter/tests/fixtures/Shapes.class");
        let before = instrument(&settings, &registry, |_| true, Some("Shapes"), bytes).unwrap();
        let map = Arc::clone(&registry.classes()[0].map);
        // Of each method the path that has most updates on it.
        let counts = map.methods.iter().map(|method| MethodCounts {
            paths: [(method.num_paths() - 1, 1_000)].into(),
            ..MethodCounts::default()
        });
        let guide = Guide::new(&Profile {
            classes: vec![ClassProfile {
                counts: counts.collect(),
                map: Arc::clone(&map),
            }],
            ..Profile::default()
        });
        settings.renumber(guide, [map.name.clone()].into_iter().collect());
        let after = instrument(&settings, &registry, |_| true, Some(&map.name), bytes).unwrap();
        assert_ne!(before, after);
        let classes = registry.classes();
        assert_eq!(classes.len(), 2);
        let Slots::Paths(layout) = &classes[0].slots else {
            panic!("its slots are not of paths");
        };
        // More than a page of them: so they have pages of their own.
        assert!(matches!(layout.pages, Pages::Own(_)));
        assert!(classes[1].ids.first_counter >= classes[0].ids.first_counter.plus(layout.slots));
        assert_ne!(classes[0].map.methods, classes[1].map.methods);
        assert_eq!(
            instrument(&settings, &registry, |_| true, Some(&map.name), bytes),
            Some(after)
        );
        assert_eq!(registry.classes().len(), 2);
    }

    #[test]
    fn with_the_jvms_events_classes_are_numbered_and_stay() {
        let registry = Registry::default();
        let settings = settings("profile=contexts,burst=jvm:50ms:2ms");
        let bytes = include_bytes!("../../../instrumenter/tests/fixtures/Shapes.class");
        for _ in 0..2 {
            assert_eq!(
                instrument(&settings, &registry, |_| true, Some("Shapes"), bytes),
                None
            );
        }
        assert_eq!(registry.left_alone.list(), []);
        let entry = registry.only_class_named("Shapes").unwrap();
        assert!(entry.map.methods.iter().any(|m| m.name == "<init>"));
        // Empty: its instructions are where they were.
        assert_eq!(registry.classes().len(), 1);
        assert_eq!(entry.code.map(|code| code.len()), Some(0));
    }

    /// The bytes of two classes with these options, the first ones of their JVM. One has a method with a
    /// single path.
    fn shapes(options: &str) -> [Option<Vec<u8>>; 2] {
        let shapes = include_bytes!("../../../instrumenter/tests/fixtures/Shapes.class");
        let small = include_bytes!("../../../instrumenter/tests/fixtures/Small.class");
        let (settings, registry) = (settings(options), Registry::default());
        [("Shapes", &shapes[..]), ("Small", small)]
            .map(|(name, bytes)| instrument(&settings, &registry, |_| true, Some(name), bytes))
    }

    /// What the table of options says about classes is what the instrumenter makes of them.
    #[test]
    fn options_change_classes_where_their_table_says_so() {
        // Where the first use and the example show nothing.
        let elsewhere = [
            ("probe", "", "yieldpoint"),
            ("exclude", "", "Shap*"),
            ("burst", "profile=contexts", "static:50ms:2ms"),
            ("file", "probe=events", "x.trace"),
            ("budget", "probe=auto", "2%"),
            ("requests", "probe=counters", "Shap*"),
        ];
        let mut wrong = Vec::new();
        for option in options().filter(|option| option.is_recorded()) {
            // These name files that have to be there; and what guides has a test of its own.
            if ["config", "use-profile", "memory"].contains(&option.name) {
                continue;
            }
            let mut cases: Vec<(&str, &str)> = match option.uses {
                [] => vec![("", option.example)],
                uses => uses.iter().map(|one| (one.with, option.example)).collect(),
            };
            let refused = [("budget", "probe=auto"), ("burst", "profile=subpaths")];
            cases.retain(|(with, _)| !refused.contains(&(option.name, *with)));
            let more = elsewhere.iter().filter(|(name, ..)| *name == option.name);
            cases.extend(more.map(|&(_, with, value)| (with, value)));
            let changes = |(with, value): &(&str, &str)| {
                let changed = format!("{with},{}={value}", option.name);
                shapes(with) != shapes(&changed)
            };
            let expected = matches!(option.effect, Effect::Classes);
            if cases.iter().any(changes) != expected {
                wrong.push(option.name);
            }
        }
        println!("{wrong:?}");
        assert!(wrong.is_empty());
    }

    #[test]
    fn what_the_shim_runs_is_left_alone_even_when_asked_for() {
        let registry = Registry::default();
        let settings = settings("probe=counters,include=java.lang.*");
        assert_eq!(
            instrument(
                &settings,
                &registry,
                |_| true,
                Some("java/lang/ThreadLocal"),
                b"ignored"
            ),
            None
        );
        assert_eq!(registry.left_alone.list().len(), 1);
    }
}
