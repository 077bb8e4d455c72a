//! Which archives inside of an input classes are loaded from. The others are data: templates that a generator
//! hands out, files that a test reads. With probes in them, their readers would get something else.

use std::collections::BTreeSet;

use clap::ValueEnum;
use percent_encoding::percent_decode_str;

use super::archive::{Archive, Source};

/// Which archives inside of others take probes (`--nested`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum NestedArchives {
    /// All of them, at any depth.
    All,
    /// Those that classes are loaded from: BOOT-INF/lib, WEB-INF/lib, APP-INF/lib, lib, modules of an ear,
    /// and what a manifest's Class-Path names.
    #[default]
    Known,
    /// None.
    None,
}

/// Why an archive inside is copied unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Copied {
    /// Classes are not loaded from there, as far as is known.
    Data,
    /// The user wants none to be instrumented.
    Unwanted,
    /// It has the name of an archive and is none.
    NoZip,
}

impl Copied {
    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Copied::Data => {
                "archives copied as data: no place that classes are known to be loaded from (--nested all instruments them)"
            }
            Copied::Unwanted => "archives copied unchanged (--nested none)",
            Copied::NoZip => "copied unchanged: named as archives, but no zips",
        }
    }
}

impl NestedArchives {
    /// Why the archive of this name is copied, if it is.
    pub fn copies(self, loaded: &Loaded, name: &str) -> Option<Copied> {
        match self {
            NestedArchives::All => None,
            NestedArchives::Known => (!loaded.has(name)).then_some(Copied::Data),
            NestedArchives::None => Some(Copied::Unwanted),
        }
    }
}

/// Folders that class loaders take archives from, with all folders below.
const LIBRARIES: [&str; 3] = ["BOOT-INF/lib/", "WEB-INF/lib/", "WEB-INF/lib-provided/"];
/// Those from which only the files directly in there are taken.
const FLAT_LIBRARIES: [&str; 2] = ["lib/", "APP-INF/lib/"];
/// Attributes of a manifest that name archives.
const CLASS_PATHS: [&str; 3] = ["class-path", "rsrc-class-path", "bundle-classpath"];

const MANIFEST: &str = "META-INF/MANIFEST.MF";
const APPLICATION: &str = "META-INF/application.xml";

/// The archives that classes are loaded from in one archive or folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Everything, as in a resource adapter.
    all: bool,
    /// Archives at the top: modules of an ear.
    top: bool,
    folders: Vec<String>,
    flat_folders: Vec<String>,
    /// Archives that manifest and deployment descriptor name.
    named: BTreeSet<String>,
}

impl Loaded {
    /// For an archive of this name. `outermost`: it is inside of no other.
    pub fn for_archive(name: &str, outermost: bool, archive: &Archive, source: &Source) -> Loaded {
        let text = |wanted: &str| {
            let at = archive.entries.iter().position(|entry| entry.name == wanted)?;
            // An entry that cannot be unpacked names nothing; if it matters, the error comes when it is
            // unpacked for the output.
            let contents = archive.unpack(source, at).ok()?;
            Some(String::from_utf8_lossy(&contents).into_owned())
        };
        let ends = |end: &str| name.to_ascii_lowercase().ends_with(end);
        let application = text(APPLICATION);
        let ear = ends(".ear") || application.is_some();
        let mut loaded = Loaded::by_manifest(text(MANIFEST).as_deref());
        loaded.all = ends(".rar");
        loaded.top = ear;
        if outermost || ends(".war") {
            loaded.folders = LIBRARIES.map(str::to_owned).to_vec();
        }
        if outermost || ear {
            loaded.flat_folders = FLAT_LIBRARIES.map(str::to_owned).to_vec();
        }
        if let Some(xml) = application {
            for (tag, text) in elements(&xml) {
                let name = plain(text);
                if tag == "library-directory" {
                    loaded
                        .flat_folders
                        .push(format!("{}/", name.trim_end_matches('/')));
                } else {
                    loaded.named.insert(name);
                }
            }
        }
        loaded
    }

    /// For a folder that classes are in, with its manifest.
    pub fn for_folder(manifest: Option<&str>) -> Loaded {
        Loaded {
            folders: LIBRARIES.map(str::to_owned).to_vec(),
            flat_folders: FLAT_LIBRARIES.map(str::to_owned).to_vec(),
            ..Loaded::by_manifest(manifest)
        }
    }

    fn by_manifest(manifest: Option<&str>) -> Loaded {
        Loaded {
            named: manifest.map(class_path).unwrap_or_default(),
            ..Loaded::default()
        }
    }

    /// True if classes are loaded from the archive of this name in there.
    pub fn has(&self, name: &str) -> bool {
        let below = |folder: &String| name.starts_with(folder.as_str());
        let right_in = |folder: &String| {
            name.strip_prefix(folder.as_str())
                .is_some_and(|file| !file.contains('/'))
        };
        self.all
            || (self.top && !name.contains('/'))
            || self.folders.iter().any(below)
            || self.flat_folders.iter().any(right_in)
            || self.named.contains(name)
    }
}

/// The archives that a manifest names: its main section only.
fn class_path(manifest: &str) -> BTreeSet<String> {
    let mut attributes: Vec<String> = Vec::new();
    for line in manifest.lines() {
        match (line.strip_prefix(' '), attributes.last_mut()) {
            _ if line.is_empty() => break,
            (Some(more), Some(attribute)) => attribute.push_str(more),
            _ => attributes.push(line.to_owned()),
        }
    }
    let mut named = BTreeSet::new();
    for attribute in attributes {
        let Some((name, value)) = attribute.split_once(':') else {
            continue;
        };
        if !CLASS_PATHS.contains(&name.to_ascii_lowercase().as_str()) {
            continue;
        }
        // Bundles separate by commas and have parameters; URLs are separated by blanks.
        let places = value
            .split([',', ' '])
            .map(|one| one.split(';').next().unwrap_or(one));
        named.extend(places.map(plain).filter(|place| !place.is_empty()));
    }
    named
}

/// A relative URL as an entry's name.
fn plain(url: &str) -> String {
    let url = url.trim();
    let url = url.strip_prefix("./").unwrap_or(url).trim_start_matches('/');
    percent_decode_str(url).decode_utf8_lossy().into_owned()
}

/// Names of elements that hold text only, and the text. (Comments may name too much: then more is
/// instrumented, as in versions that instrumented all.)
fn elements(xml: &str) -> impl Iterator<Item = (&str, &str)> {
    xml.split('<').filter_map(|piece| {
        let (tag, text) = piece.split_once('>')?;
        let name = tag.split_ascii_whitespace().next()?;
        let local = name.rsplit(':').next().unwrap_or(name);
        (!name.starts_with('/') && !text.trim().is_empty()).then_some((local, text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_name_archives() {
        let manifest = "Manifest-Version: 1.0\r\nClass-Path: ./a.jar libs/b%20c.jar lib\r\n s/long.jar ../up.jar\r\n\
            Bundle-ClassPath: .,inner/d.jar;visibility:=private\r\n\r\nName: x\r\nClass-Path: no.jar\r\n";
        let expected = [
            ".",
            "../up.jar",
            "a.jar",
            "inner/d.jar",
            "libs/b c.jar",
            "libs/long.jar",
        ];
        assert_eq!(class_path(manifest), expected.map(str::to_owned).into());
    }

    #[test]
    fn folders_of_libraries() {
        let loaded = Loaded::for_folder(Some("Class-Path: more/x.jar\n"));
        for name in [
            "BOOT-INF/lib/a.jar",
            "BOOT-INF/lib/deeper/a.jar",
            "WEB-INF/lib/a.jar",
            "lib/a.jar",
            "APP-INF/lib/a.jar",
            "more/x.jar",
        ] {
            assert!(loaded.has(name), "{name}");
        }
        for name in [
            "a.jar",
            "templates/a.jar",
            "lib/templates/a.jar",
            "x/lib/a.jar",
            "BOOT-INF/a.jar",
            "library/a.jar",
        ] {
            assert!(!loaded.has(name), "{name}");
        }
    }

    #[test]
    fn descriptors_name_modules() {
        let xml = "<application><module><web><web-uri>a/shop.war</web-uri></web></module>\
            <j:library-directory>/libs</j:library-directory></application>";
        let expected = [("web-uri", "a/shop.war"), ("library-directory", "/libs")];
        assert_eq!(elements(xml).collect::<Vec<_>>(), expected);
    }
}
