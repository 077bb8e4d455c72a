//! The class that probes call (`java-shim/ahead/trodden/Runtime.java`): each output gets copies of it that
//! belong to it alone, one per place that class loaders look into.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::archive::Source;
use super::input::{Found, Input, Root, kind};
use crate::error::CliError;

/// The class as compiled, `trodden.Runtime`.
static TEMPLATE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ahead/trodden/Runtime.class"));

/// The placeholder of the unit in the template.
const UNIT: &[u8] = b"@unit@";
const NAME: &[u8] = b"trodden/Runtime";

/// The id of an output: 16 hexadecimal digits.
///
/// Same input and options give the same unit, so that the output is the same, too.
///
/// # Errors
/// If the input cannot be read.
pub fn unit(input: &Input, options: &str) -> Result<String, CliError> {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(env!("CARGO_PKG_VERSION").as_bytes());
    add(options.as_bytes());
    match &input.root {
        Root::Class(found) => add(&found.bytes),
        Root::Archive(source, _) => add_all(&mut hash, &input.path, source)?,
        Root::Folder(files) => {
            for file in files {
                let name = file.to_string_lossy();
                if kind(&name).is_some() {
                    let whole = input.path.join(file);
                    let source = fs::File::open(&whole).and_then(Source::file);
                    let source = source.map_err(|e| CliError::file(&whole, e))?;
                    hash.update(name.as_bytes());
                    add_all(&mut hash, &whole, &source)?;
                }
            }
        }
    }
    let digest = hash.finalize();
    Ok(digest[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Adds a whole file, a piece at a time.
fn add_all(hash: &mut Sha256, path: &Path, source: &Source) -> Result<(), CliError> {
    hash.update((source.len() as u64).to_le_bytes());
    for piece in source.pieces(0..source.len()) {
        hash.update(&*piece.map_err(|e| CliError::file(path, e))?);
    }
    Ok(())
}

/// The places in one archive or folder that class loaders look into, by the part of names in front of their
/// classes' own folders. Each has a package that its copy of the runtime goes to, one that it has anyway:
/// what can load its classes can load that, be it a named module or a bundle.
#[derive(Default)]
pub struct Homes(BTreeMap<String, (bool, String)>);

impl Homes {
    /// Takes note of a class.
    pub fn add(&mut self, class: &Found) {
        let package = class.name.rfind('/').map_or("", |at| &class.name[..=at]);
        // A class in the unnamed package, or one for some Java versions only, is the second choice.
        let good = !package.is_empty() && !class.label.contains("META-INF/versions/");
        match self.0.get_mut(&class.prefix) {
            Some(there) if good && !there.0 => *there = (true, package.to_owned()),
            Some(_) => {}
            None => {
                self.0.insert(class.prefix.clone(), (good, package.to_owned()));
            }
        }
    }

    /// The name that the probes of classes with this prefix call.
    pub fn runtime(&self, prefix: &str, unit: &str) -> String {
        let package = self.0.get(prefix).map_or("", |(_, package)| package.as_str());
        format!("{package}Trodden${unit}")
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

/// A text with the unit in it. (The compiler joins constants.)
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
