//! Branch counts that HotSpot has made itself, of methods that took time and have no probes.
//!
//! HotSpot counts outcomes of branches in the interpreter and in C1's code, of all methods, until C2 has
//! compiled them. They are read where nothing else is known: methods over HotSpot's limit for compilation,
//! runs without probes. A class file is made again of what the JVM has of a class, so that maps and
//! conditions come about as everywhere else.

mod layout;
mod method_data;

use jvmti_bindings::sys::jni::jmethodID;
use rustc_hash::{FxHashMap, FxHashSet};
use trodden_classfile::class::Class;
use trodden_classfile::code::{Code, Marks};
use trodden_classfile::loaded::{LoadedClass, LoadedMethod};
use trodden_instrumenter::{EventProbes, Filter, InstrumentOptions, Instrumenter, Preparation, Probes};
use trodden_profile::{
    BlockExit, ClassMap, CpuFrameKind, EdgeLabel, HotSpotBranch, HotSpotMethod, MethodMap, Profile,
};
use trodden_source::{NoClasses, recover};

use crate::host::Host;
use crate::jvm::{ClassRef, Jni, JvmError, catch};
use layout::Layout;
use method_data::{Counted, branches, receiver_words};

/// Local references to all loaded classes at once: the most that can be asked for.
const ROOM: i32 = 1 << 16;
/// Methods that are read, at most: those with most time.
const MAX_METHODS: usize = 1000;

/// Why HotSpot's counts were not read.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// The JVM's tables for debuggers lack something.
    #[error("this JVM does not say where it has them")]
    NoLayout,
    /// The tables say something else than is found there.
    #[error("this JVM has them in another way than is known")]
    OtherLayout,
    /// The JVM refuses something.
    #[error(transparent)]
    Jvm(#[from] JvmError),
}

/// Name and descriptor.
type Signature = (String, String);

/// A class with the counts of its methods, as read.
struct ReadClass {
    class: LoadedClass,
    /// Parallel to its methods.
    counts: Vec<Vec<u8>>,
}

/// Counts of the methods of a profile that have time and no probes, by class, name and descriptor.
///
/// # Errors
/// If the JVM does not say where they are, or something else is there.
pub fn read(
    host: &Host,
    jni: Jni<'_>,
    filter: &Filter,
    profile: &Profile,
) -> Result<Vec<HotSpotMethod>, Unread> {
    let wanted = wanted(profile, filter);
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    host.jvmti.add_capabilities(|set| {
        set.set_can_get_bytecodes(true);
        set.set_can_get_constant_pool(true);
        set.set_can_get_source_file_name(true);
    })?;
    let layout = Layout::new(host.vm).ok_or(Unread::NoLayout)?;
    let _frame = jni.frame(ROOM)?;
    let mut classes = Vec::new();
    for class in host.jvmti.loaded_classes()? {
        if let Some(name) = host.jvmti.class_name(class)?
            && let Some(signatures) = wanted.get(&*name)
        {
            classes.extend(read_class(host, &layout, class, name, signatures));
        }
    }
    let all = classes.iter().flat_map(|read| {
        let methods = read.class.methods.iter().zip(&read.counts);
        methods.map(|(method, data)| (&**data, method.code.len() as u32))
    });
    let (receiver, wrong) = receiver_words(all.clone());
    // Counts change while they are read, so that a few may not make sense.
    if wrong > (all.count() - wrong) / 10 {
        return Err(Unread::OtherLayout);
    }
    let mut methods: Vec<HotSpotMethod> = classes.iter().flat_map(|read| of_class(read, receiver)).collect();
    methods.sort_by(|a, b| a.names().cmp(&b.names()));
    // Classes of one name from several loaders: samples do not say which of them they are of.
    methods.dedup_by(|b, a| a.names() == b.names());
    Ok(methods)
}

/// Methods of the samples, by class, that have no probes.
fn wanted(profile: &Profile, filter: &Filter) -> FxHashMap<String, FxHashSet<Signature>> {
    let Some(cpu) = &profile.cpu else {
        return FxHashMap::default();
    };
    let with_probes: FxHashSet<(&str, &str, &str)> = (profile.classes.iter())
        .flat_map(|class| {
            class
                .map
                .methods
                .iter()
                .map(|map| (&*class.map.name, &*map.name, &*map.descriptor))
        })
        .collect();
    let mut times = vec![0u64; cpu.frames.len()];
    for (node, total) in cpu.tree.nodes().iter().zip(cpu.tree.totals()) {
        let time = &mut times[node.frame as usize];
        *time = time.saturating_add(total.samples);
    }
    let mut frames: Vec<(u64, usize)> = times
        .into_iter()
        .zip(0..)
        .filter(|&(time, at)| {
            let frame = &cpu.frames[at];
            time > 0
                && frame.kind == CpuFrameKind::Java
                && filter.class(&frame.class)
                && filter.method(&frame.class, &frame.name)
                && !with_probes.contains(&(&*frame.class, &*frame.name, &*frame.descriptor))
        })
        .collect();
    frames.sort_unstable_by_key(|&(time, at)| (std::cmp::Reverse(time), at));
    let mut wanted: FxHashMap<String, FxHashSet<Signature>> = FxHashMap::default();
    for (_, at) in frames.into_iter().take(MAX_METHODS) {
        let frame = &cpu.frames[at];
        let signature = (frame.name.clone(), frame.descriptor.clone());
        wanted.entry(frame.class.clone()).or_default().insert(signature);
    }
    wanted
}

/// A class with those of the methods that HotSpot has counts of; `None` if there are none.
fn read_class(
    host: &Host,
    layout: &Layout,
    class: ClassRef,
    name: String,
    signatures: &FxHashSet<Signature>,
) -> Option<ReadClass> {
    let jvmti = host.jvmti;
    let mut methods = Vec::new();
    let mut counts = Vec::new();
    for &id in jvmti.class_methods(class).ok()?.iter() {
        let signature = jvmti.method_name(id).ok()?;
        if signatures.contains(&signature)
            && let Some((method, of_method)) = read_method(host, layout, id, signature)
        {
            methods.push(method);
            counts.push(of_method);
        }
    }
    if methods.is_empty() {
        return None;
    }
    let (pool_count, pool) = jvmti.constant_pool(class).ok()?;
    let class = LoadedClass {
        name,
        access: jvmti.class_modifiers(class).ok()?,
        source_file: jvmti.source_file(class),
        pool_count,
        pool,
        methods,
    };
    Some(ReadClass { class, counts })
}

fn read_method(
    host: &Host,
    layout: &Layout,
    id: jmethodID,
    (name, descriptor): Signature,
) -> Option<(LoadedMethod, Vec<u8>)> {
    let jvmti = host.jvmti;
    let code = jvmti.bytecodes(id).ok()?;
    let at = layout.method(id, code.len())?;
    let counts = at.counts()?;
    let tables = at.tables();
    let method = LoadedMethod {
        name,
        descriptor,
        access: jvmti.method_modifiers(id).ok()?,
        max_locals: jvmti.max_locals(id).ok()?,
        lines: jvmti.lines(id),
        code,
        handlers: tables.handlers,
        locals: tables.locals,
    };
    Some((method, counts))
}

/// The methods of a class. One that cannot be understood is left out.
fn of_class(read: &ReadClass, receiver: usize) -> Vec<HotSpotMethod> {
    let made = catch("reading HotSpot's counts", || {
        let bytes = read.class.bytes()?;
        let map = map(&bytes)?;
        // Labels of an enum's `switch` are in other classes.
        let conditions = recover(&bytes, &map, &NoClasses, |_| true).unwrap_or_default();
        Some((bytes, map, conditions))
    });
    let Ok(Some((bytes, map, mut conditions))) = made else {
        return Vec::new();
    };
    let Ok(class) = Class::read(&bytes) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (position, method) in map.methods.iter().enumerate() {
        let loaded = read
            .class
            .methods
            .iter()
            .position(|m| m.name == method.name && m.descriptor == method.descriptor);
        let counted = loaded.and_then(|at| {
            let counted = branches(&read.counts[at], method.code_length, receiver)?;
            let code = class.methods[at].code.as_ref()?;
            let code = Code::read(code, &class.pool, &mut Marks::default()).ok()?;
            of_blocks(method, &code, &counted)
        });
        let Some(branches) = counted.filter(|branches| !branches.is_empty()) else {
            continue;
        };
        found.push(HotSpotMethod {
            class: read.class.name.clone(),
            source_file: read.class.source_file.clone(),
            map: method.clone(),
            conditions: conditions
                .get_mut(position)
                .map(std::mem::take)
                .unwrap_or_default(),
            branches,
        });
    }
    found
}

/// The path map of a class file that is never written with probes.
fn map(bytes: &[u8]) -> Option<std::sync::Arc<ClassMap>> {
    let options = InstrumentOptions {
        filter: Filter::everything(),
        // Other methods of the class may have probes.
        marked_classes: true,
        shapes: false,
        ..InstrumentOptions::new(Probes::Events(EventProbes::JvmSteps { activations: false }))
    };
    match Instrumenter::new(options).prepare(bytes).ok()? {
        Preparation::Ready(prepared) => Some(prepared.map().clone()),
        Preparation::Unchanged { .. } => None,
    }
}

/// Counts by the blocks that end with the branches. `None` if there is a count where there is no branch:
/// then these are no counts of this code.
fn of_blocks(map: &MethodMap, code: &Code, counted: &[(u32, Counted)]) -> Option<Vec<HotSpotBranch>> {
    let mut found = Vec::new();
    for (bci, counts) in counted {
        let Some(block) = map.block_at(*bci) else {
            // Code that is never reached has no blocks.
            continue;
        };
        let info = &map.blocks[block.index()];
        if info.last != *bci {
            return None;
        }
        let outcomes: Option<Vec<u64>> = match (info.exit, counts) {
            (BlockExit::Branch, Counted::Branch([taken, not_taken])) => {
                let of_edge = |label: &EdgeLabel| match label {
                    EdgeLabel::Taken => Some(*taken),
                    EdgeLabel::NotTaken => Some(*not_taken),
                    _ => None,
                };
                info.labels.iter().map(of_edge).collect()
            }
            (BlockExit::Switch, Counted::Switch(counts)) => {
                let keys: Vec<i32> = code.switch(*bci).cases().map(|(key, _)| key).collect();
                let (default, cases) = counts.split_first()?;
                if cases.len() != keys.len() {
                    return None;
                }
                let of_edge = |label: &EdgeLabel| {
                    let EdgeLabel::Switch {
                        keys: of_edge,
                        default: with_default,
                    } = label
                    else {
                        return None;
                    };
                    let cases = keys.iter().zip(cases).filter(|(key, _)| of_edge.contains(key));
                    let first = if *with_default { *default } else { 0 };
                    Some(cases.fold(first, |sum, (_, &count)| sum.saturating_add(count)))
                };
                info.labels.iter().map(of_edge).collect()
            }
            _ => return None,
        };
        let outcomes = outcomes?;
        if outcomes.iter().any(|&count| count > 0) {
            found.push(HotSpotBranch {
                block: block.index() as u32,
                outcomes,
            });
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use trodden_classfile::class::Attribute;
    use trodden_classfile::decode;
    use trodden_classfile::reader::Reader;

    use super::*;

    /// Rows of numbers of two bytes of an attribute of a method's code.
    fn rows<const N: usize>(attribute: Option<Attribute>) -> Vec<[u16; N]> {
        let Some(attribute) = attribute else {
            return Vec::new();
        };
        let mut reader: Reader = attribute.reader();
        let count = reader.u2().unwrap();
        (0..count)
            .map(|_| std::array::from_fn(|_| reader.u2().unwrap()))
            .collect()
    }

    /// What a JVM has of a class.
    fn loaded(bytes: &[u8]) -> LoadedClass {
        let class = Class::read(bytes).unwrap();
        let mut methods = Vec::new();
        for method in &class.methods {
            let Some(attribute) = &method.code else { continue };
            let code = Code::read(attribute, &class.pool, &mut Marks::default()).unwrap();
            let of = |name: &[u8]| code.attributes(&class.pool).find(|a| a.name == name);
            let mut reader = attribute.reader();
            let (_, max_locals, length) = (reader.u2().unwrap(), reader.u2().unwrap(), reader.u4().unwrap());
            methods.push(LoadedMethod {
                name: decode(method.name).into_owned(),
                descriptor: decode(method.descriptor).into_owned(),
                access: method.access,
                max_locals,
                code: reader.bytes(length as usize).unwrap().to_vec(),
                lines: rows(of(b"LineNumberTable"))
                    .into_iter()
                    .map(|[bci, line]| (bci, line))
                    .collect(),
                handlers: {
                    let count = reader.u2().unwrap();
                    (0..count)
                        .map(|_| std::array::from_fn(|_| reader.u2().unwrap()))
                        .collect()
                },
                locals: rows(of(b"LocalVariableTable")),
            });
        }
        LoadedClass {
            name: decode(class.name).into_owned(),
            access: class.access(),
            source_file: class.source_file.map(|name| decode(name).into_owned()),
            pool_count: class.pool.len() as u16,
            pool: class.pool.bytes().to_vec(),
            methods,
        }
    }

    /// Maps and conditions are those of the class file that the JVM was given.
    #[test]
    fn what_is_read_of_it_is_that_of_the_original() {
        let bytes = include_bytes!("../../../instrumenter/tests/fixtures/Shapes.class");
        let again = loaded(bytes).bytes().unwrap();
        let (original, again_map) = (super::map(bytes).unwrap(), super::map(&again).unwrap());
        assert!(original.methods.len() > 5);
        assert_eq!(original.methods, again_map.methods);
        assert_eq!(original.source_file, again_map.source_file);
        let conditions =
            |bytes, map| trodden_source::recover(bytes, map, &trodden_source::NoClasses, |_| true).unwrap();
        assert_eq!(conditions(bytes, &original), conditions(&again, &again_map));
    }

    #[test]
    fn a_class_without_room_for_constants_is_refused() {
        let full = LoadedClass {
            name: "a/B".to_owned(),
            pool_count: u16::MAX - 3,
            ..LoadedClass::default()
        };
        assert_eq!(full.bytes(), None);
    }
}
