//! Names that are safe to show.
//!
//! Class files, command lines and threads may have any character in their names: escape sequences for terminals,
//! line breaks that end a record, marks that turn the direction of writing around. Formats for people and for line
//! readers show such a character as its escape in Java, `\u001b`.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use super::facts::FactValue;
use super::kinds::KINDS;
use super::{ClassMap, Profile, RunInfo, Skipped};

/// Is this a character that no format for people may hold: a control character, a line or paragraph separator, a mark
/// that changes the direction of writing, or one that XML forbids?
pub fn is_control(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}'
    )
}

/// A text for one line: control characters become escapes.
pub fn printable(text: &str) -> Cow<'_, str> {
    escape(text, is_control)
}

/// A text of several lines: as [`printable`], but line ends and tabs stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_control(c) && c != '\n' && c != '\t')
}

fn escape(text: &str, bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if bad(c) {
            // All of them have at most 16 bits. Writing to a String cannot fail.
            let _ = write!(out, "\\u{:04x}", c as u32);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

impl Profile {
    /// The profile with [`printable`] names everywhere, for formats that cannot hold others. It is borrowed if they
    /// are printable already, as nearly always.
    pub fn printable(&self) -> Cow<'_, Profile> {
        if self.is_printable() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(self.clone().into_printable())
    }

    /// Like [`printable`](Self::printable), but without a copy.
    pub fn into_printable(mut self) -> Profile {
        if !self.is_printable() {
            self.make_printable();
        }
        self
    }

    fn is_printable(&self) -> bool {
        self.texts().iter().all(|text| !text.contains(is_control))
    }

    /// All texts of the profile.
    fn texts(&self) -> Vec<&str> {
        let Profile {
            run,
            classes,
            skipped,
            ..
        } = self;
        // Whoever adds a part has to say here and below which texts it holds: no `..` in this pattern.
        let RunInfo {
            jvm,
            command,
            started_ms: _,
            seconds: _,
            probe,
            schedule,
            interval_ns: _,
            exact: _,
            options,
            version,
            facts,
        } = run;
        let mut all: Vec<&str> = vec![jvm, command, probe, options, version];
        all.extend(schedule.as_deref());
        for (name, value) in facts.iter() {
            all.push(name);
            // Numbers are printable.
            if let FactValue::Text(text) = value {
                all.push(text);
            }
        }
        all.extend(classes.iter().flat_map(|class| class.map.texts()));
        for Skipped {
            class,
            method,
            reason,
        } in skipped
        {
            all.extend([class.as_str(), reason]);
            all.extend(method.as_deref());
        }
        all.extend(KINDS.iter().flat_map(|kind| kind.texts(self)));
        all
    }

    fn make_printable(&mut self) {
        let run = &mut self.run;
        for text in [
            &mut run.jvm,
            &mut run.command,
            &mut run.probe,
            &mut run.options,
            &mut run.version,
        ] {
            change(text);
        }
        run.schedule.iter_mut().for_each(change);
        let fact = |(name, value): (&str, Cow<'_, str>)| {
            (printable(name).into_owned(), printable(&value).into_owned())
        };
        run.facts = run.facts.texts().map(fact).collect();
        for class in &mut self.classes {
            if let Cow::Owned(map) = class.map.printable() {
                class.map = Arc::new(map);
            }
        }
        for skipped in &mut self.skipped {
            change(&mut skipped.class);
            change(&mut skipped.reason);
            skipped.method.iter_mut().for_each(change);
        }
        for kind in KINDS {
            kind.texts_mut(self).into_iter().for_each(change);
        }
    }
}

impl ClassMap {
    /// The map with [`printable`] names; borrowed if they are so already. No source file has a name with control
    /// characters, so such a one is left out.
    pub fn printable(&self) -> Cow<'_, ClassMap> {
        if self.texts().iter().all(|text| !text.contains(is_control)) {
            return Cow::Borrowed(self);
        }
        let mut copy = self.clone();
        change(&mut copy.name);
        copy.source_file = copy.source_file.filter(|file| !file.contains(is_control));
        for method in &mut copy.methods {
            change(&mut method.name);
            change(&mut method.descriptor);
            for piece in &mut method.inlined {
                for name in [&mut piece.file, &mut piece.class] {
                    if let Cow::Owned(printable) = printable(name) {
                        *name = printable.into();
                    }
                }
            }
        }
        Cow::Owned(copy)
    }

    fn texts(&self) -> Vec<&str> {
        let methods = self.methods.iter();
        let of_methods = methods.flat_map(|method| {
            let pieces = method.inlined.iter();
            let names = pieces.flat_map(|piece| [&*piece.file, &*piece.class]);
            [method.name.as_str(), &method.descriptor]
                .into_iter()
                .chain(names)
        });
        let own = [Some(self.name.as_str()), self.source_file.as_deref()];
        own.into_iter().flatten().chain(of_methods).collect()
    }
}

fn change(text: &mut String) {
    if let Cow::Owned(printable) = printable(text) {
        *text = printable;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClassProfile;

    #[test]
    fn control_characters_become_escapes() {
        assert_eq!(
            printable("a\u{1b}[31m\nb\u{202e}c\u{9b}"),
            "a\\u001b[31m\\u000ab\\u202ec\\u009b"
        );
        assert_eq!(printable_lines("a\n\tb\r\u{7f}"), "a\n\tb\\u000d\\u007f");
        for good in ["", "a/b/C$1", "größe", "名前", "👩‍👩‍👧", "<init>"] {
            assert!(matches!(printable(good), Cow::Borrowed(same) if same == good));
        }
    }

    #[test]
    fn all_texts_of_a_profile_are_changed() {
        const BAD: &str = "x\u{1b}";
        let bad = || BAD.to_owned();
        let mut run = RunInfo {
            jvm: bad(),
            command: bad(),
            probe: bad(),
            schedule: Some(bad()),
            options: bad(),
            version: bad(),
            ..RunInfo::default()
        };
        run.facts = [(bad(), bad())].into_iter().collect();
        let map = ClassMap {
            name: bad(),
            sha256: [0; 32],
            source_file: Some(bad()),
            methods: Vec::new(),
        };
        let profile = Profile {
            run,
            classes: vec![ClassProfile {
                map: Arc::new(map),
                counts: Vec::new(),
            }],
            skipped: vec![Skipped {
                class: bad(),
                method: Some(bad()),
                reason: bad(),
            }],
            kpaths: Some(crate::KPaths {
                bursts: Some(bad()),
                ..Default::default()
            }),
            contexts: Some(crate::Contexts {
                algorithm: bad(),
                bursts: Some(bad()),
                ..Default::default()
            }),
            subpaths: Some(crate::Subpaths {
                lengths: bad(),
                order: bad(),
                identity: bad(),
                starts: bad(),
                bursts: Some(bad()),
                ..Default::default()
            }),
            ..Profile::default()
        };
        let mut profile = profile;
        let condition = crate::Condition {
            block: 0,
            kind: crate::ConditionKind::Switch,
            text: Some(BAD.into()),
            outcomes: vec![crate::Outcome::Case(BAD.into())],
            made: None,
        };
        let of = crate::MethodConditions {
            conditions: vec![condition],
            ..Default::default()
        };
        profile.conditions.insert((0, 0), of);
        profile.cpu = Some(crate::CpuSamples {
            reader: bad(),
            failed: vec![crate::CpuFailure {
                reason: bad(),
                time: Default::default(),
            }],
            frames: vec![crate::CpuFrame {
                class: bad(),
                name: bad(),
                descriptor: bad(),
                kind: crate::CpuFrameKind::Java,
            }],
            ..Default::default()
        });
        let printed = profile.printable();
        let (before, after) = (profile.texts(), printed.texts());
        assert_eq!(before.len(), 28);
        assert!(before.iter().all(|&text| text == BAD));
        // All but the source file's.
        assert_eq!(after, vec!["x\\u001b"; before.len() - 1]);
        assert_eq!(printed.classes[0].map.source_file, None);
        assert!(matches!(printed.printable(), Cow::Borrowed(_)));
    }
}
