//! Names of classes, methods, places, and of how paths begin, branch and end.

use trodden_numbering::{BlockId, EdgeRef, StartKind};
use trodden_profile::{EdgeLabel, EndKind, MethodMap, Place};

/// The internal name with dots.
pub fn dotted(class: &str) -> String {
    class.replace('/', ".")
}

/// A class without its package.
pub fn simple(class: &str) -> &str {
    class.rsplit('/').next().unwrap_or(class)
}

/// `a.b.C.m(int)`.
pub fn title(class: &str, method: &str, descriptor: &str) -> String {
    format!("{}.{}", dotted(class), signature(method, descriptor))
}

/// An edge of a block.
pub fn edge(block: usize, index: usize) -> EdgeRef {
    EdgeRef {
        from: BlockId::new(block),
        index: index as u32,
    }
}

/// `m` and `([IJLa/b/C;)V` as `m(int[], long, C)`; a descriptor that cannot be read stays as it is.
pub fn signature(name: &str, descriptor: &str) -> String {
    match parameters(descriptor) {
        Some(types) => format!("{name}({})", types.join(", ")),
        None => format!("{name}{descriptor}"),
    }
}

fn parameters(descriptor: &str) -> Option<Vec<String>> {
    let mut rest = descriptor.strip_prefix('(')?;
    let mut types = Vec::new();
    while !rest.starts_with(')') {
        let element = rest.trim_start_matches('[');
        let arrays = rest.len() - element.len();
        let (base, after) = match element.chars().next()? {
            'B' => ("byte", &element[1..]),
            'C' => ("char", &element[1..]),
            'D' => ("double", &element[1..]),
            'F' => ("float", &element[1..]),
            'I' => ("int", &element[1..]),
            'J' => ("long", &element[1..]),
            'S' => ("short", &element[1..]),
            'Z' => ("boolean", &element[1..]),
            'L' => {
                let (class, after) = element[1..].split_once(';')?;
                (simple(class), after)
            }
            _ => return None,
        };
        types.push(format!("{base}{}", "[]".repeat(arrays)));
        rest = after;
    }
    Some(types)
}

/// `line 12`, or `bytecode 7` where the class file has no line numbers.
pub fn place(place: Place) -> String {
    match place.line {
        Some(line) => format!("line {line}"),
        None => format!("bytecode {}", place.bci),
    }
}

/// `C.java:12`, if both are known.
pub fn in_file(file: Option<&str>, at: Place) -> Option<String> {
    Some(format!("{}:{}", file?, at.line?))
}

/// A method's name with a place in it, if file and line are known: `a.b.C.m(int), C.java:12`.
pub fn with_file(name: String, file: Option<&str>, at: Place) -> String {
    match in_file(file, at) {
        Some(file) => format!("{name}, {file}"),
        None => name,
    }
}

/// Where a bytecode index of a method is, as [`place`] says it.
pub fn place_of(map: &MethodMap, bci: u32) -> String {
    place(map.place(bci))
}

/// The decision in the JSON report's words: `taken`, `not-taken`, `case 3`, `case 3,4`, `default`.
pub fn decision(label: &EdgeLabel) -> String {
    match label {
        EdgeLabel::Taken => "taken".to_owned(),
        EdgeLabel::NotTaken => "not-taken".to_owned(),
        EdgeLabel::FallThrough => "fall-through".to_owned(),
        EdgeLabel::Goto => "goto".to_owned(),
        EdgeLabel::Switch { keys, default } => {
            let keys: Vec<String> = keys.iter().map(i32::to_string).collect();
            match (keys.is_empty(), default) {
                (true, _) => "default".to_owned(),
                (false, false) => format!("case {}", keys.join(",")),
                (false, true) => format!("case {},default", keys.join(",")),
            }
        }
    }
}

/// The decision for people: as [`decision`], but short where a switch target has very many keys.
pub fn decision_short(label: &EdgeLabel) -> String {
    match label {
        EdgeLabel::NotTaken => "not taken".to_owned(),
        EdgeLabel::Switch { keys, default } if keys.len() > 4 => {
            let default = if *default { ", default" } else { "" };
            format!("case {},{},… ({} cases{default})", keys[0], keys[1], keys.len())
        }
        label => decision(label),
    }
}

/// JSON name of a start.
pub fn start_kind(kind: StartKind) -> &'static str {
    match kind {
        StartKind::Entry => "entry",
        StartKind::Header => "header",
        StartKind::Handler => "handler",
        StartKind::Cut => "cut",
    }
}

/// JSON name of an end.
pub fn end_kind(kind: EndKind) -> &'static str {
    match kind {
        EndKind::Header => "header",
        EndKind::Cut => "cut",
        EndKind::Return => "return",
        EndKind::Throw => "throw",
        EndKind::Stopped => "stopped",
    }
}

/// How a path starts, in plain words.
pub fn starts(kind: StartKind, at: Place) -> String {
    let place = place(at);
    match kind {
        StartKind::Entry => format!("method entry, {place}"),
        StartKind::Header => format!("top of the loop, {place}"),
        StartKind::Handler => format!("exception handler, {place}"),
        StartKind::Cut => format!("continues at {place}"),
    }
}

/// Of which executions a path that starts there is one.
pub fn of_starts(kind: StartKind, at: Place) -> String {
    let place = place(at);
    match kind {
        StartKind::Entry => "its calls".to_owned(),
        StartKind::Header => format!("the rounds of its loop at {place}"),
        StartKind::Handler => format!("the paths from its handler at {place}"),
        StartKind::Cut => format!("the paths from {place}"),
    }
}

/// How a path ends, in plain words.
pub fn ends(kind: EndKind, at: Place) -> String {
    let place = place(at);
    match kind {
        EndKind::Header => format!("top of the loop, {place}"),
        EndKind::Cut => format!("{place}, where the next piece begins"),
        EndKind::Return => format!("return, {place}"),
        EndKind::Throw => format!("throw, {place}"),
        EndKind::Stopped => format!("stopped at {place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures() {
        assert_eq!(signature("m", "([[IJLa/b/C;)V"), "m(int[][], long, C)");
        assert_eq!(signature("m", "()V"), "m()");
        for damaged in ["", "(", "(La", "(Q)V", "(é)V"] {
            assert_eq!(signature("m", damaged), format!("m{damaged}"));
        }
    }

    #[test]
    fn decisions() {
        let switch = |keys: &[i32], default| EdgeLabel::Switch {
            keys: keys.to_vec(),
            default,
        };
        assert_eq!(decision(&switch(&[3], false)), "case 3");
        assert_eq!(decision(&switch(&[3, 4], true)), "case 3,4,default");
        assert_eq!(decision(&switch(&[], true)), "default");
        assert_eq!(
            decision_short(&switch(&[1, 2, 3, 4, 5], false)),
            "case 1,2,… (5 cases)"
        );
    }
}
