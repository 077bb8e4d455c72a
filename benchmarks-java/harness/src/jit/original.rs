//! From bytecode indices of rewritten code back to those of the class file: the class is rewritten once more,
//! as the agent did it.

use std::cell::RefCell;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use rustc_hash::FxHashMap;
use trodden_instrumenter::{ClassIds, Filter, InstrumentOptions, Instrumenter, Preparation, ProbeKind};
use trodden_profile::options::{Action, AgentCommand, Probe};

/// Packages of the JDK, whose classes carry no probes unless they are asked for.
const OF_THE_JDK: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

/// (new, old) bytecode index of each instruction, ascending.
type Moved = Vec<(u32, u32)>;

/// Where the calls of rewritten methods were.
pub struct Originals {
    instrumenter: Option<Instrumenter>,
    /// Is the JDK's own code rewritten?
    with_jdk: bool,
    class_path: Vec<Place>,
    /// Per method where its instructions went; `None` if it is as it was.
    methods: RefCell<FxHashMap<String, Option<Moved>>>,
    /// Classes that were looked for, and whether they were found.
    classes: RefCell<FxHashMap<String, bool>>,
}

enum Place {
    Folder(PathBuf),
    Jar(RefCell<zip::ZipArchive<File>>),
}

impl Place {
    fn class(&self, name: &str) -> Option<Vec<u8>> {
        let file = format!("{}.class", name.replace('.', "/"));
        match self {
            Place::Folder(folder) => std::fs::read(folder.join(file)).ok(),
            Place::Jar(jar) => {
                let mut jar = jar.borrow_mut();
                let mut entry = jar.by_name(&file).ok()?;
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).ok()?;
                Some(bytes)
            }
        }
    }
}

/// The agent's instrumenter for these options; `None` for probes that are not written anew here.
fn instrumenter(options: &str, include: Option<&str>) -> Option<Instrumenter> {
    let mut text = format!("start,{options}");
    if let Some(include) = include {
        text += &format!(",include={include}");
    }
    let command = AgentCommand::parse(&text).ok()?;
    let options = command.options;
    let kind = match options.probe_in_use() {
        Probe::Counters => ProbeKind::Counters,
        Probe::Yieldpoint => ProbeKind::Yieldpoint,
        Probe::Safepoint => ProbeKind::Safepoint,
        _ => return None,
    };
    debug_assert!(command.action == Action::Start);
    // A guide would have to be the same.
    let simple = options.code.use_profile.is_none() && !options.is_structural();
    let instrument = InstrumentOptions {
        filter: Filter::new(&options.code.include, &options.code.exclude).ok()?,
        single_path_methods: options.covers_paths(),
        cut_paths: options.counts_cut_paths(),
        shapes: false,
        ..InstrumentOptions::new(kind)
    };
    simple.then(|| Instrumenter::new(instrument))
}

impl Originals {
    /// For a run with these agent options, over the class path of its command line.
    pub fn new(options: &str, include: Option<&str>, class_path: &[PathBuf]) -> Originals {
        let places = class_path.iter().filter_map(|path| {
            if path.is_dir() {
                Some(Place::Folder(path.clone()))
            } else {
                let jar = zip::ZipArchive::new(File::open(path).ok()?).ok()?;
                Some(Place::Jar(RefCell::new(jar)))
            }
        });
        Originals {
            instrumenter: instrumenter(options, include),
            with_jdk: include.is_some() || options.contains("include="),
            class_path: places.collect(),
            methods: RefCell::default(),
            classes: RefCell::default(),
        }
    }

    /// The class file's index for one of the running code, if it is known.
    pub fn of(&self, method: &str, bci: u32) -> Option<u32> {
        let class = &method[..method[..method.find('(')?].rfind('.')?];
        if !self.with_jdk && OF_THE_JDK.iter().any(|package| class.starts_with(package)) {
            return Some(bci);
        }
        let known = self.classes.borrow().get(class).copied();
        if !known.unwrap_or_else(|| self.look_up(class)) {
            return None;
        }
        match self.methods.borrow().get(method) {
            None | Some(None) => Some(bci),
            Some(Some(map)) => {
                let at = map.binary_search_by_key(&bci, |(new, _)| *new).ok()?;
                Some(map[at].1)
            }
        }
    }

    fn look_up(&self, class: &str) -> bool {
        let found = self.rewrite(class).is_some();
        self.classes.borrow_mut().insert(class.to_owned(), found);
        found
    }

    fn rewrite(&self, class: &str) -> Option<()> {
        let bytes = self.class_path.iter().find_map(|place| place.class(class))?;
        let Preparation::Ready(prepared) = self.instrumenter.as_ref()?.prepare(&bytes).ok()? else {
            return Some(());
        };
        let (_, codes) = prepared.emit_with_code(ClassIds::new(0, 0));
        let mut methods = self.methods.borrow_mut();
        for (map, code) in prepared.map().methods.iter().zip(codes) {
            let name = format!("{class}.{}{}", map.name, map.descriptor);
            methods.insert(name, Some(code.pc_map).filter(|map| !map.is_empty()));
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_the_jdk_is_as_it_was() {
        let of = |include| Originals::new("probe=counters", include, &[]);
        assert_eq!(
            of(None).of("java.util.ArrayList.add(Ljava/lang/Object;)Z", 7),
            Some(7)
        );
        assert_eq!(
            of(Some("java.util.*")).of("java.util.ArrayList.add(Ljava/lang/Object;)Z", 7),
            None
        );
        // Not on the class path: nobody knows.
        assert_eq!(of(None).of("a.B.c()V", 7), None);
    }

    #[test]
    fn probes_that_are_not_written_anew_here() {
        assert!(instrumenter("probe=counters", None).is_some());
        assert!(instrumenter("probe=yieldpoint", Some("a.*")).is_some());
        assert!(instrumenter("probe=events", None).is_none());
        assert!(instrumenter("probe=nonsense", None).is_none());
    }
}
