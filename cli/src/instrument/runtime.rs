//! The class that probes call (`java-shim/ahead/trodden/Runtime.java`): each output gets copies of it that belong to it
//! alone, one per place that class loaders look into.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::input::{Found, Input, Place};

/// The class as compiled, `trodden.Runtime`.
static TEMPLATE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ahead/trodden/Runtime.class"));

/// Stands in the template where the unit goes.
const UNIT: &[u8] = b"@unit@";
const NAME: &[u8] = b"trodden/Runtime";

/// What an output is known by: 16 hexadecimal digits.
///
/// Same input and options give the same unit, so that the output is the same, too.
pub fn unit(input: &Input, options: &str) -> String {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(env!("CARGO_PKG_VERSION").as_bytes());
    add(options.as_bytes());
    for archive in &input.archives {
        if let Place::Whole | Place::File(_) = archive.place {
            add(&archive.bytes);
        }
    }
    for class in &input.classes {
        if let Place::Whole | Place::File(_) = class.place {
            add(class.name.as_bytes());
            add(&class.bytes);
        }
    }
    let digest = hash.finalize();
    digest[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A place that class loaders look into: an archive or the folder, and what stands in front of classes' own folders.
type Home = (Option<usize>, String);

/// Where a class lives.
fn home(class: &Found) -> Home {
    let archive = match class.place {
        Place::Entry(archive, _) => Some(archive),
        Place::Whole | Place::File(_) => None,
    };
    (archive, class.prefix.clone())
}

/// The names of the runtime's copies.
pub struct Runtimes(BTreeMap<Home, String>);

impl Runtimes {
    /// A name in each home, in a package that it has anyway: what can load its classes can load that, be it a named module
    /// or a bundle.
    pub fn of(input: &Input, unit: &str) -> Self {
        let mut packages: BTreeMap<Home, (bool, &str)> = BTreeMap::new();
        for class in &input.classes {
            let package = class.name.rfind('/').map_or("", |at| &class.name[..=at]);
            // A class in the unnamed package, or one for some Java versions only, is the second choice.
            let good = !package.is_empty() && !class.label.contains("META-INF/versions/");
            let there = packages.entry(home(class)).or_insert((good, package));
            if good && !there.0 {
                *there = (true, package);
            }
        }
        let name = |package: &str| format!("{package}Trodden${unit}");
        Runtimes(
            packages
                .into_iter()
                .map(|(home, (_, package))| (home, name(package)))
                .collect(),
        )
    }

    /// The name that a class's probes call.
    pub fn of_class(&self, class: &Found) -> &str {
        self.0.get(&home(class)).map_or("", String::as_str)
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(String::as_str)
    }
}

/// A copy of the class under another name, that knows its unit.
pub fn class(name: &str, unit: &str) -> Vec<u8> {
    let template = TEMPLATE;
    let count = usize::from(u16::from_be_bytes([template[8], template[9]]));
    let mut out = template[..10].to_vec();
    let mut at = 10;
    let mut index = 1;
    while index < count {
        let tag = template[at];
        let length = match tag {
            1 => 3 + usize::from(u16::from_be_bytes([template[at + 1], template[at + 2]])),
            3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => 5,
            5 | 6 => 9,
            15 => 4,
            _ => 3,
        };
        let constant = &template[at..at + length];
        let text = match &constant[3.min(length)..] {
            NAME if tag == 1 => Some(name.as_bytes().to_vec()),
            text if tag == 1 => with_unit(text, unit),
            _ => None,
        };
        match text {
            None => out.extend_from_slice(constant),
            Some(text) => {
                out.push(1);
                out.extend_from_slice(&(text.len() as u16).to_be_bytes());
                out.extend_from_slice(&text);
            }
        }
        at += length;
        // Longs and doubles take two numbers.
        index += if matches!(tag, 5 | 6) { 2 } else { 1 };
    }
    out.extend_from_slice(&template[at..]);
    out
}

/// A text with the unit in it. (The compiler puts constants together.)
fn with_unit(text: &[u8], unit: &str) -> Option<Vec<u8>> {
    let at = text.windows(UNIT.len()).position(|part| part == UNIT)?;
    Some([&text[..at], unit.as_bytes(), &text[at + UNIT.len()..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_its_name_and_its_unit() {
        let copy = class("a/b/Trodden$0123456789abcdef", "0123456789abcdef");
        assert_eq!(
            trodden_instrumenter::class_name(&copy).unwrap(),
            "a/b/Trodden$0123456789abcdef"
        );
        let has = |text: &[u8]| copy.windows(text.len()).any(|w| w == text);
        assert!(!has(NAME) && !has(UNIT) && has(b"\x00\x100123456789abcdef"));
        assert!(has(b"/META-INF/trodden/0123456789abcdef.map.trodden"));
        // Only what calls java.lang.Trodden is left of the agent's shim.
        assert!(has(b"java/lang/TroddenAhead"));
        assert_eq!(u16::from_be_bytes([copy[6], copy[7]]), 52);
    }
}
