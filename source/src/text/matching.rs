//! Does a recovered condition say what a piece of source says?
//!
//! Both are stripped of what bytecode does not have (`this.`, qualifiers, casts, redundant parentheses, type arguments,
//! boxing), then compared token by token. `…` matches anything; a literal matches a constant's name.

use super::tokens::{Kind, Token};

/// How well two texts fit each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Not at all.
    No,
    /// Where one has a literal, the other has a name; or something is left out.
    Compatible,
    /// They say the same.
    Same,
}

/// Compares a recovered text's tokens with those of the source, both [`stripped`].
pub fn fit(recovered: &[&Token], source: &[&Token]) -> Fit {
    let mut steps = 0;
    matches(recovered, source, &mut steps)
}

/// Most comparisons before it is given up.
const MAX_STEPS: u32 = 20_000;

fn matches(a: &[&Token], b: &[&Token], steps: &mut u32) -> Fit {
    *steps += 1;
    if *steps > MAX_STEPS {
        return Fit::No;
    }
    let Some((first, rest)) = a.split_first() else {
        return if b.is_empty() { Fit::Same } else { Fit::No };
    };
    // An argument list may be empty where `…` stands, or end before it.
    if first.is(",")
        && rest.first().is_some_and(|t| t.kind == Kind::Cut)
        && matches(&rest[1..], b, steps) != Fit::No
    {
        return Fit::Compatible;
    }
    if first.kind == Kind::Cut {
        // What is left out may be a qualifier that the source's text has lost as well.
        if rest.first().is_some_and(|t| t.is(".")) && matches(&rest[1..], b, steps) != Fit::No {
            return Fit::Compatible;
        }
        let mut depth = 0i32;
        for taken in 0..=b.len() {
            if depth == 0 && matches(rest, &b[taken..], steps) != Fit::No {
                return Fit::Compatible;
            }
            match b.get(taken).map(|t| t.text.as_str()) {
                Some("(" | "[" | "{") => depth += 1,
                Some(")" | "]" | "}") => depth -= 1,
                _ => {}
            }
            if depth < 0 {
                break;
            }
        }
        return Fit::No;
    }
    // A constant's value: of a name, of a negative number.
    let literal = matches!(first.kind, Kind::Integer(_) | Kind::Real(_) | Kind::Text(_));
    let Some((other, others)) = b.split_first() else {
        return Fit::No;
    };
    match same(first, other) {
        Fit::No => {}
        // What is the same so far can still fail later and fit otherwise.
        found => match matches(rest, others, steps) {
            Fit::No => {}
            after => return found.min(after),
        },
    }
    // `-1`, folded, beside a name.
    if first.is("-")
        && rest
            .first()
            .is_some_and(|t| matches!(t.kind, Kind::Integer(_) | Kind::Real(_)))
        && is_name(other)
        && matches(&rest[1..], others, steps) != Fit::No
    {
        return Fit::Compatible;
    }
    // `-2`, beside `(byte) 0xfe` without its cast.
    if first.is("-")
        && let (Some(Kind::Integer(n)), Kind::Integer(m @ 128..=255)) =
            (rest.first().map(|t| &t.kind), &other.kind)
        && n + m == 256
        && matches(&rest[1..], others, steps) != Fit::No
    {
        return Fit::Compatible;
    }
    // `byte.class` is `Byte.TYPE`, without its qualifier.
    if other.is("TYPE")
        && PRIMITIVES.iter().any(|ty| first.is(ty))
        && rest.len() >= 2
        && rest[1].is("class")
        && matches(&rest[2..], others, steps) != Fit::No
    {
        return Fit::Compatible;
    }
    // A constant whose name was taken for a qualifier: `"GET".equals(x)` beside `Get.equals(x)`.
    if literal && rest.first().is_some_and(|t| t.is(".")) && matches(&rest[1..], b, steps) != Fit::No {
        return Fit::Compatible;
    }
    // A folded expression of constants: `MAX - 1`, `1 << 16`, `"a" + B`.
    if literal && let Some(folded) = folded(b).filter(|&len| len > 1) {
        for len in (2..=folded).rev() {
            if matches(rest, &b[len..], steps) != Fit::No {
                return Fit::Compatible;
            }
        }
    }
    Fit::No
}

fn is_name(token: &Token) -> bool {
    token.kind == Kind::Word
        && !matches!(
            token.text.as_str(),
            "true" | "false" | "null" | "this" | "instanceof"
        )
}

/// A name that constants have.
fn is_constant_name(token: &Token) -> bool {
    is_name(token)
        && token.text.chars().any(char::is_uppercase)
        && !token.text.chars().any(char::is_lowercase)
}

/// Length of an arithmetic expression of constants at the beginning.
fn folded(tokens: &[&Token]) -> Option<usize> {
    let constant = |t: &&Token| {
        matches!(t.kind, Kind::Integer(_) | Kind::Real(_) | Kind::Text(_)) || is_constant_name(t)
    };
    let sign = |t: &&Token| {
        matches!(
            t.text.as_str(),
            "+" | "-" | "*" | "/" | "%" | "<<" | ">>" | "&" | "|" | "^" | "~"
        )
    };
    let len = tokens.iter().take_while(|t| constant(t) || sign(t)).count();
    (len > 0).then_some(len)
}

fn same(a: &Token, b: &Token) -> Fit {
    let equal = |equal: bool| if equal { Fit::Same } else { Fit::No };
    match (&a.kind, &b.kind) {
        (Kind::Integer(m), Kind::Integer(n)) => equal(m == n),
        (Kind::Real(x), Kind::Real(y)) => equal(x == y || (*x as f32) == (*y as f32)),
        (Kind::Integer(n), Kind::Real(x)) | (Kind::Real(x), Kind::Integer(n)) => equal(*n as f64 == *x),
        (Kind::Text(cut), Kind::Text(whole)) => match cut.strip_suffix('…') {
            Some(head) if whole.starts_with(head) => Fit::Compatible,
            _ => equal(cut == whole),
        },
        (Kind::Integer(_) | Kind::Real(_) | Kind::Text(_), Kind::Word) if is_name(b) => {
            match is_constant_name(b) {
                true => Fit::Compatible,
                // A local variable with a constant value.
                false => Fit::Compatible,
            }
        }
        _ => equal(a.text == b.text),
    }
}

/// Primitive types.
const PRIMITIVES: [&str; 9] = [
    "boolean", "byte", "char", "short", "int", "long", "float", "double", "void",
];

/// Methods that take a value out of its box.
const UNBOXING: [&str; 8] = [
    "booleanValue",
    "byteValue",
    "charValue",
    "shortValue",
    "intValue",
    "longValue",
    "floatValue",
    "doubleValue",
];

/// Without what bytecode does not have.
pub fn stripped<'t>(tokens: &[&'t Token]) -> Vec<&'t Token> {
    let plain = without_type_arguments(tokens);
    let plain = without_casts(&plain);
    let plain = without_qualifiers(&plain);
    without_parentheses(&plain)
}

fn without_type_arguments<'t>(tokens: &[&'t Token]) -> Vec<&'t Token> {
    let mut out: Vec<&Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].is("<") {
            let part = |t: &&&Token| {
                t.kind == Kind::Word
                    || matches!(
                        t.text.as_str(),
                        "<" | ">" | ">>" | ">>>" | "," | "." | "?" | "[" | "]" | "&"
                    )
            };
            let mut depth = 0i32;
            let mut end = None;
            for (offset, token) in tokens[at..].iter().take_while(part).enumerate() {
                depth += match token.text.as_str() {
                    "<" => 1,
                    ">" => -1,
                    ">>" => -2,
                    ">>>" => -3,
                    _ => 0,
                };
                if depth <= 0 {
                    end = Some(at + offset + 1);
                    break;
                }
            }
            // Only where a type can be: before a call, a member, a name, or at the end of a cast.
            let after = |end: usize| tokens.get(end).map(|t| t.text.as_str());
            if let Some(end) = end
                && (matches!(after(end), Some("(" | ")" | "::" | "." | "[") | None)
                    || out.last().is_some_and(|t| t.is(".")))
            {
                at = end;
                continue;
            }
        }
        out.push(tokens[at]);
        at += 1;
    }
    out
}

/// Does what comes before allow an operand here, so that a parenthesis groups or casts?
fn begins_operand(before: Option<&&Token>) -> bool {
    match before {
        None => true,
        Some(t) => match t.kind {
            Kind::Word => matches!(
                t.text.as_str(),
                "return" | "instanceof" | "case" | "in" | "if" | "while" | "throw"
            ),
            Kind::Sign => !matches!(t.text.as_str(), ")" | "]" | "}"),
            _ => false,
        },
    }
}

fn without_casts<'t>(tokens: &[&'t Token]) -> Vec<&'t Token> {
    let mut out: Vec<&Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].is("(") && begins_operand(out.last()) {
            let ty = |t: &&&Token| t.kind == Kind::Word || matches!(t.text.as_str(), "." | "[" | "]" | "&");
            let len = tokens[at + 1..].iter().take_while(ty).count();
            let close = at + 1 + len;
            let operand = tokens.get(close + 1).is_some_and(|t| {
                t.kind != Kind::Sign && !t.is("instanceof") || matches!(t.text.as_str(), "(" | "!" | "~")
            });
            if len > 0 && tokens.get(close).is_some_and(|t| t.is(")")) && operand {
                at = close + 1;
                continue;
            }
        }
        out.push(tokens[at]);
        at += 1;
    }
    out
}

fn without_qualifiers<'t>(tokens: &[&'t Token]) -> Vec<&'t Token> {
    let mut out: Vec<&Token> = Vec::with_capacity(tokens.len());
    let upper =
        |t: &Token| t.kind == Kind::Word && t.text.starts_with(char::is_uppercase) && t.text != "TYPE";
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        let dot = tokens.get(at + 1).is_some_and(|t| t.is("."));
        let member = tokens
            .get(at + 2)
            .is_some_and(|t| t.kind == Kind::Word && !t.is("class"));
        if dot && member && (upper(token) || token.is("this") || token.is("super")) {
            // With the package, or the class around, in front.
            while out.len() >= 2 && out[out.len() - 1].is(".") && out[out.len() - 2].kind == Kind::Word {
                out.truncate(out.len() - 2);
            }
            at += 2;
            continue;
        }
        // A type with its package.
        if upper(token) && out.last().is_some_and(|t| t.is(".")) {
            let mut from = out.len();
            while from >= 2
                && out[from - 1].is(".")
                && out[from - 2].kind == Kind::Word
                && !upper(out[from - 2])
            {
                from -= 2;
            }
            if from > 0 && matches!(out[from - 1].text.as_str(), "instanceof" | "new" | "is" | "final") {
                out.truncate(from);
            }
        }
        let next = tokens.get(at + 1).map(|t| t.text.as_str());
        let call =
            tokens.get(at + 2).is_some_and(|t| t.is("(")) && tokens.get(at + 3).is_some_and(|t| t.is(")"));
        if token.is(".") && call && next.is_some_and(|name| UNBOXING.contains(&name)) {
            at += 4;
            continue;
        }
        // The variable of `instanceof`; `final` and annotations before its type.
        if token.kind == Kind::Word && out.len() >= 2 && at > 0 {
            let previous = out[out.len() - 1];
            let pattern = out.iter().rev().take(8).any(|t| t.is("instanceof") || t.is("is"));
            if pattern && (previous.kind == Kind::Word && upper(previous) || previous.is("]")) {
                at += 1;
                continue;
            }
        }
        if token.is("final") {
            at += 1;
            continue;
        }
        out.push(token);
        at += 1;
    }
    // A type of an inner class behind `instanceof` keeps its last part only.
    out
}

fn without_parentheses<'t>(tokens: &[&'t Token]) -> Vec<&'t Token> {
    let mut out: Vec<&Token> = Vec::with_capacity(tokens.len());
    let mut groups = Vec::new();
    for &token in tokens {
        if token.is("(") {
            let group = begins_operand(out.last());
            groups.push(group);
            if group {
                continue;
            }
        } else if token.is(")") && groups.pop() == Some(true) {
            continue;
        }
        out.push(token);
    }
    out
}
