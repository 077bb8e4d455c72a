//! Methods that take time and whose paths are not known: they were left as they were, or none of their paths came to an end.

use std::collections::{HashMap, HashSet};

use trodden_profile::{CpuTime, HotSpotMethod, Known, MethodMap, Place, Profile};

use crate::hotspot::HotSpotView;
use crate::names;
use crate::path_time::{Names, Times};
use crate::pattern::MethodPattern;
use crate::source::{Sources, below};

/// One of them.
#[derive(Debug)]
pub struct LeftOut<'p> {
    /// Internal class name.
    pub class: &'p str,
    /// Name.
    pub name: &'p str,
    /// Descriptor.
    pub descriptor: &'p str,
    /// Why its paths are not known.
    pub reason: String,
    /// Samples in it and in methods without a row of their own that it called.
    pub near: CpuTime,
    /// Samples with it on the stack.
    pub total: CpuTime,
    /// The program's time, but for lost samples.
    pub program: CpuTime,
    /// `near` by place, most first: lines if these are known.
    pub places: Vec<(Place, CpuTime)>,
    /// Its position among the frames of the samples.
    pub frame: usize,
    /// Its path map, if there is one.
    pub map: Option<&'p MethodMap>,
    /// The class's SourceFile attribute, if that is known and names a file below a source folder.
    pub source_file: Option<&'p str>,
    /// Its branches, if HotSpot's own counts of them were read.
    pub hotspot: Option<HotSpotView<'p>>,
}

impl LeftOut<'_> {
    /// `a.b.C.m(int)`.
    pub fn title(&self) -> String {
        names::title(self.class, self.name, self.descriptor)
    }

    /// `a.b.C.m(int), C.java:12`: the title, with the place where its code begins if that is known.
    pub fn title_with_file(&self) -> String {
        match self.map {
            Some(map) => names::with_file(self.title(), self.source_file, map.place(0)),
            None => self.title(),
        }
    }

    /// Class, name and descriptor.
    pub fn names(&self) -> Names<'_> {
        (self.class, self.name, self.descriptor)
    }

    /// A time of it as a share of the program's, 0 to 1.
    pub fn share(&self, time: CpuTime) -> f64 {
        time.ns as f64 / self.program.ns.max(1) as f64
    }
}

/// Why methods and classes were left as they were, but those that an earlier run knows.
fn reasons(profile: &Profile) -> impl Iterator<Item = (&str, Option<&str>, &str)> {
    let entries = profile.skipped.iter();
    let entries =
        entries.filter(|skipped| !skipped.has_probes() && Known::of_reason(&skipped.reason).is_none());
    entries.map(|skipped| (&*skipped.class, skipped.method.as_deref(), &*skipped.reason))
}

/// The names of those that samples name.
pub fn names(profile: &Profile) -> HashSet<Names<'_>> {
    let mut of_classes = HashSet::new();
    let mut found: HashSet<Names> = HashSet::new();
    for (class, method, _) in reasons(profile) {
        match method.and_then(|method| Some((method, method.find('(')?))) {
            Some((method, at)) => {
                found.insert((class, &method[..at], &method[at..]));
            }
            None => {
                of_classes.insert(class);
            }
        }
    }
    let frames = profile.cpu.iter().flat_map(|cpu| &cpu.frames);
    let of_class = frames.filter(|frame| of_classes.contains(&*frame.class));
    found.extend(of_class.map(|frame| (&*frame.class, &*frame.name, &*frame.descriptor)));
    found.extend(profile.hotspot.iter().map(HotSpotMethod::names));
    found
}

/// Those with time, most first. `counted` are the methods with paths, `pattern` selects; `bytecode`: decisions are shown as
/// what the bytecode did.
pub fn left_out<'p>(
    profile: &'p Profile,
    times: &Times<'p>,
    counted: &HashSet<Names>,
    pattern: Option<&MethodPattern>,
    (sources, bytecode): (&Sources, bool),
) -> Vec<LeftOut<'p>> {
    let mut why: HashMap<(&str, Option<&str>), &str> = HashMap::new();
    for (class, method, reason) in reasons(profile) {
        why.entry((class, method)).or_insert(reason);
    }
    let mut maps: HashMap<Names, &MethodMap> = HashMap::new();
    let mut files: HashMap<&str, &str> = HashMap::new();
    for class in &profile.classes {
        files.extend(
            class
                .map
                .source_file
                .as_deref()
                .map(|file| (&*class.map.name, file)),
        );
        let methods = class.map.methods.iter();
        maps.extend(methods.map(|map| ((&*class.map.name, &*map.name, &*map.descriptor), map)));
    }
    let of_hotspot: HashMap<Names, &HotSpotMethod> = profile
        .hotspot
        .iter()
        .map(|method| (method.names(), method))
        .collect();
    maps.extend(of_hotspot.iter().map(|(&names, method)| (names, &method.map)));
    files.extend(
        of_hotspot
            .iter()
            .filter_map(|(names, method)| Some((names.0, method.source_file.as_deref()?))),
    );
    let mut found = Vec::new();
    for (index, frame) in times.samples.frames.iter().enumerate() {
        let names: Names = (&frame.class, &frame.name, &frame.descriptor);
        let near = times.near[index];
        let is_chosen = pattern.is_none_or(|p| p.matches(names.0, names.1, names.2));
        if !times.mapped[index] || near.is_none() || counted.contains(&names) || !is_chosen {
            continue;
        }
        let method = format!("{}{}", frame.name, frame.descriptor);
        let reason = why
            .get(&(names.0, Some(method.as_str())))
            .or_else(|| why.get(&(names.0, None)));
        let reason = match reason {
            Some(reason) => (*reason).to_owned(),
            None if profile.run.has_time_only() => "no code had probes".to_owned(),
            None if profile.run.exact => "none of them came to an end".to_owned(),
            None => "no sample saw one".to_owned(),
        };
        found.push(LeftOut {
            class: &frame.class,
            name: &frame.name,
            descriptor: &frame.descriptor,
            reason,
            near,
            total: times.methods[index].all.total,
            program: times.total,
            places: places(times, index, maps.get(&names).copied()),
            frame: index,
            map: maps.get(&names).copied(),
            source_file: files
                .get(names.0)
                .copied()
                .filter(|file| below(names.0, file).is_some()),
            hotspot: of_hotspot.get(&names).map(|method| {
                let places = times.near_places[index].iter();
                let placed = places.filter_map(|(&bci, &time)| Some((bci?, time)));
                HotSpotView::new(method, placed, sources, bytecode)
            }),
        });
    }
    found.sort_by(|a, b| b.near.ns.cmp(&a.near.ns).then_with(|| a.title().cmp(&b.title())));
    found
}

/// The line of a place in a method: by its path map or, without one, as the samples have it.
pub fn line(times: &Times, frame: usize, map: Option<&MethodMap>, bci: u16) -> Option<u32> {
    match map {
        Some(map) => map.line(bci.into()),
        None => times.samples.lines.line(frame, bci),
    }
}

/// A method's time by line, most first.
fn places(times: &Times, frame: usize, map: Option<&MethodMap>) -> Vec<(Place, CpuTime)> {
    let mut by_line: HashMap<u32, (Place, CpuTime)> = HashMap::new();
    for (&bci, &time) in &times.near_places[frame] {
        let Some(bci) = bci else { continue };
        let Some(line) = line(times, frame, map, bci) else {
            continue;
        };
        let place = Place {
            bci: bci.into(),
            line: Some(line),
        };
        let entry = by_line.entry(line).or_insert((place, CpuTime::default()));
        entry.1 = entry.1.plus(time);
    }
    let mut all: Vec<_> = by_line.into_values().collect();
    all.sort_by(|a, b| b.1.ns.cmp(&a.1.ns).then(a.0.line.cmp(&b.0.line)));
    all
}
