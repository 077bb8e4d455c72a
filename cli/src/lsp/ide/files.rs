//! The classes of a source file, and what a profile has of their methods.

use std::collections::HashMap;
use std::path::Path;

use trodden_insight::left_out::LeftOut;
use trodden_insight::names;
use trodden_insight::source::is_of;
use trodden_insight::view::View;
use trodden_profile::{ClassProfile, MethodMap, Profile};
use trodden_source::text::tokens;

/// Tokens in which a file names its package.
const MAX_HEADER: usize = 500;

/// Classes by the name of their source file, and rows of the view by method.
pub struct Files<'p> {
    by_name: HashMap<&'p str, Vec<&'p ClassProfile>>,
    /// Rows of a view by the address of the method's path map.
    rows: HashMap<*const MethodMap, usize>,
    left_out: HashMap<(&'p str, &'p str, &'p str), usize>,
}

impl<'p> Files<'p> {
    /// The files of a profile, and of the view of it.
    pub fn new(profile: &'p Profile, view: &View<'p>) -> Self {
        let earlier = profile.memory.iter().flat_map(|memory| &memory.found.classes);
        let mut by_name: HashMap<&str, Vec<&ClassProfile>> = HashMap::new();
        for class in profile.classes.iter().chain(earlier) {
            if let Some(file) = class.map.source_file.as_deref() {
                by_name.entry(file).or_default().push(class);
            }
        }
        let rows = view.methods.iter().enumerate();
        let left_out = view.left_out.iter().enumerate();
        Files {
            by_name,
            rows: rows
                .map(|(row, method)| (std::ptr::from_ref(method.map), row))
                .collect(),
            left_out: left_out
                .map(|(row, left)| ((left.class, left.name, left.descriptor), row))
                .collect(),
        }
    }

    /// The classes of a source file. Of languages other than Java, the folder may be another than the
    /// package.
    pub fn classes_of(&self, file: &Path, text: &str) -> Vec<&'p ClassProfile> {
        let Some(name) = file.file_name().and_then(|name| name.to_str()) else {
            return Vec::new();
        };
        let path = file.to_string_lossy();
        let package = if name.ends_with(".java") {
            None
        } else {
            package(text)
        };
        let is_here = |class: &&&ClassProfile| {
            is_of(&class.map, &path) || package.as_deref() == Some(package_of(&class.map.name))
        };
        let all = self.by_name.get(name).into_iter().flatten();
        all.filter(is_here).copied().collect()
    }

    /// The row of a method in the view, if it ran.
    pub fn row(&self, map: &MethodMap) -> Option<usize> {
        self.rows.get(&std::ptr::from_ref(map)).copied()
    }

    /// The row of a method among those whose paths are not known.
    pub fn left_out(&self, class: &str, map: &MethodMap) -> Option<usize> {
        self.left_out
            .get(&(class, map.name.as_str(), map.descriptor.as_str()))
            .copied()
    }

    /// The rows of methods of a class without a path map, whose paths are not known.
    pub fn without_map<'v>(&self, view: &'v View<'p>, class: &str) -> Vec<&'v LeftOut<'p>> {
        view.left_out
            .iter()
            .filter(|left| left.class == class && left.map.is_none())
            .collect()
    }
}

/// The package of a class, with dots.
fn package_of(class: &str) -> &str {
    class.rsplit_once('/').map_or("", |(package, _)| package)
}

/// The package that a text names, as class files have it.
fn package(text: &str) -> Option<String> {
    let header: String = text.chars().take(20_000).collect();
    let tokens = tokens(&header);
    let at = tokens
        .iter()
        .take(MAX_HEADER)
        .position(|token| token.is("package"))?;
    let line = tokens[at].line;
    let name = tokens[at + 1..]
        .iter()
        .take_while(|token| token.line == line && !token.is(";"));
    let name: String = name.map(|token| token.text.as_str()).collect();
    Some(name.replace('.', "/"))
}

/// The name by which code in a source declares a method: a constructor has its class's.
pub fn declared_name<'n>(class: &'n str, method: &'n str) -> &'n str {
    if method != "<init>" {
        return method;
    }
    let simple = names::simple(class);
    let own = simple.rsplit('$').next().unwrap_or(simple);
    own.trim_start_matches(|c: char| c.is_ascii_digit())
}
