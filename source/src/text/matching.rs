//! Comparison of a recovered condition with a piece of source.
//!
//! Both are stripped of what bytecode does not have (`this.`, qualifiers, casts, redundant parentheses, type
//! arguments, boxing), then compared token by token. `…` matches anything; a literal matches a constant's
//! name.

use super::tokens::{Token, TokenKind};

/// How well two texts match each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchQuality {
    /// Not at all.
    No,
    /// Where one has a literal, the other has a name; or something is left out.
    Compatible,
    /// They say the same.
    Same,
}

/// Compares a recovered text's tokens with those of the source, both [`stripped`].
pub fn fit(recovered: &[&Token], source: &[&Token]) -> MatchQuality {
    let mut steps = 0;
    matches(recovered, source, &mut steps)
}

/// Number of comparisons after which it is given up.
const MAX_STEPS: u32 = 20_000;

fn matches(a: &[&Token], b: &[&Token], steps: &mut u32) -> MatchQuality {
    *steps += 1;
    if *steps > MAX_STEPS {
        return MatchQuality::No;
    }
    let Some((first, rest)) = a.split_first() else {
        return if b.is_empty() {
            MatchQuality::Same
        } else {
            MatchQuality::No
        };
    };
    // An argument list may be empty where the other has `…`, or end before it.
    if first.is(",")
        && rest.first().is_some_and(|t| t.kind == TokenKind::Cut)
        && matches(&rest[1..], b, steps) != MatchQuality::No
    {
        return MatchQuality::Compatible;
    }
    if first.kind == TokenKind::Cut {
        // What is left out may be a qualifier that the source's text has lost as well.
        if rest.first().is_some_and(|t| t.is(".")) && matches(&rest[1..], b, steps) != MatchQuality::No {
            return MatchQuality::Compatible;
        }
        let mut depth = 0i32;
        for taken in 0..=b.len() {
            if depth == 0 && matches(rest, &b[taken..], steps) != MatchQuality::No {
                return MatchQuality::Compatible;
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
        return MatchQuality::No;
    }
    // A constant's value: of a name, of a negative number.
    let literal = matches!(
        first.kind,
        TokenKind::Integer(_) | TokenKind::Real(_) | TokenKind::Text(_)
    );
    let Some((other, others)) = b.split_first() else {
        return MatchQuality::No;
    };
    match same(first, other) {
        MatchQuality::No => {}
        // What is the same so far can still fail later and fit otherwise.
        found => match matches(rest, others, steps) {
            MatchQuality::No => {}
            after => return found.min(after),
        },
    }
    // `-1`, folded, compared with a name.
    if first.is("-")
        && rest
            .first()
            .is_some_and(|t| matches!(t.kind, TokenKind::Integer(_) | TokenKind::Real(_)))
        && is_name(other)
        && matches(&rest[1..], others, steps) != MatchQuality::No
    {
        return MatchQuality::Compatible;
    }
    // `-2`, compared with `(byte) 0xfe` without its cast.
    if first.is("-")
        && let (Some(TokenKind::Integer(n)), TokenKind::Integer(m @ 128..=255)) =
            (rest.first().map(|t| &t.kind), &other.kind)
        && n + m == 256
        && matches(&rest[1..], others, steps) != MatchQuality::No
    {
        return MatchQuality::Compatible;
    }
    // `byte.class` is `Byte.TYPE`, without its qualifier.
    if other.is("TYPE")
        && PRIMITIVES.iter().any(|ty| first.is(ty))
        && rest.len() >= 2
        && rest[1].is("class")
        && matches(&rest[2..], others, steps) != MatchQuality::No
    {
        return MatchQuality::Compatible;
    }
    // A constant whose name was taken for a qualifier: `"GET".equals(x)` compared with `Get.equals(x)`.
    if literal && rest.first().is_some_and(|t| t.is(".")) && matches(&rest[1..], b, steps) != MatchQuality::No
    {
        return MatchQuality::Compatible;
    }
    // A folded expression of constants: `MAX - 1`, `1 << 16`, `"a" + B`.
    if literal && let Some(folded) = folded(b).filter(|&len| len > 1) {
        for len in (2..=folded).rev() {
            if matches(rest, &b[len..], steps) != MatchQuality::No {
                return MatchQuality::Compatible;
            }
        }
    }
    MatchQuality::No
}

fn is_name(token: &Token) -> bool {
    token.kind == TokenKind::Word
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
        matches!(
            t.kind,
            TokenKind::Integer(_) | TokenKind::Real(_) | TokenKind::Text(_)
        ) || is_constant_name(t)
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

fn same(a: &Token, b: &Token) -> MatchQuality {
    let equal = |equal: bool| {
        if equal {
            MatchQuality::Same
        } else {
            MatchQuality::No
        }
    };
    match (&a.kind, &b.kind) {
        (TokenKind::Integer(m), TokenKind::Integer(n)) => equal(m == n),
        (TokenKind::Real(x), TokenKind::Real(y)) => equal(x == y || (*x as f32) == (*y as f32)),
        (TokenKind::Integer(n), TokenKind::Real(x)) | (TokenKind::Real(x), TokenKind::Integer(n)) => {
            equal(*n as f64 == *x)
        }
        (TokenKind::Text(cut), TokenKind::Text(whole)) => match cut.strip_suffix('…') {
            Some(head) if whole.starts_with(head) => MatchQuality::Compatible,
            _ => equal(cut == whole),
        },
        // A constant, or a local variable with a constant value.
        (TokenKind::Integer(_) | TokenKind::Real(_) | TokenKind::Text(_), TokenKind::Word) if is_name(b) => {
            MatchQuality::Compatible
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
                t.kind == TokenKind::Word
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

/// Returns true if the token before allows an operand here, so that a parenthesis groups or casts.
fn begins_operand(before: Option<&&Token>) -> bool {
    match before {
        None => true,
        Some(t) => match t.kind {
            TokenKind::Word => matches!(
                t.text.as_str(),
                "return" | "instanceof" | "case" | "in" | "if" | "while" | "throw"
            ),
            TokenKind::Sign => !matches!(t.text.as_str(), ")" | "]" | "}"),
            _ => false,
        },
    }
}

fn without_casts<'t>(tokens: &[&'t Token]) -> Vec<&'t Token> {
    let mut out: Vec<&Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].is("(") && begins_operand(out.last()) {
            let ty =
                |t: &&&Token| t.kind == TokenKind::Word || matches!(t.text.as_str(), "." | "[" | "]" | "&");
            let len = tokens[at + 1..].iter().take_while(ty).count();
            let close = at + 1 + len;
            let operand = tokens.get(close + 1).is_some_and(|t| {
                t.kind != TokenKind::Sign && !t.is("instanceof") || matches!(t.text.as_str(), "(" | "!" | "~")
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
        |t: &Token| t.kind == TokenKind::Word && t.text.starts_with(char::is_uppercase) && t.text != "TYPE";
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        let dot = tokens.get(at + 1).is_some_and(|t| t.is("."));
        let member = tokens
            .get(at + 2)
            .is_some_and(|t| t.kind == TokenKind::Word && !t.is("class"));
        if dot && member && (upper(token) || token.is("this") || token.is("super")) {
            // With the package, or the class around, in front.
            while out.len() >= 2 && out[out.len() - 1].is(".") && out[out.len() - 2].kind == TokenKind::Word {
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
                && out[from - 2].kind == TokenKind::Word
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
        if token.kind == TokenKind::Word && out.len() >= 2 && at > 0 {
            let previous = out[out.len() - 1];
            let pattern = out.iter().rev().take(8).any(|t| t.is("instanceof") || t.is("is"));
            if pattern && (previous.kind == TokenKind::Word && upper(previous) || previous.is("]")) {
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
