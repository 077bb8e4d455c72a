//! Conditions in source files: the text of a condition on its line, in the author's spelling.
//!
//! The recovered text says what to look for; a tolerant tokeniser finds the piece of source that says the
//! same. If nothing does, or several different pieces do, the condition is not known.

mod declared;
mod matching;
mod tokens;

pub use matching::{MatchQuality, fit, stripped};
pub use tokens::{Token, TokenKind, tokens};

use trodden_profile::{Condition, ConditionKind};

/// Lines that a condition may span above and below the line of its branch.
const REACH: u32 = 6;
/// Longest text that is taken from the source, in characters; what is longer is cut with `…`.
const MAX_SOURCE_TEXT: usize = 100;
/// Most tokens of one condition.
const MAX_TOKENS: usize = 120;

/// The text of a condition as a source file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// In the author's spelling, on one line.
    pub text: String,
    /// It says the opposite of what was recovered: *yes* and *no* change places.
    pub opposite: bool,
}

/// A source file, taken apart.
#[derive(Debug)]
pub struct SourceFile {
    text: String,
    tokens: Vec<Token>,
}

impl SourceFile {
    /// Takes a file apart.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let tokens = tokens(&text);
        SourceFile { text, tokens }
    }

    /// The text of a condition as the source has it on this line; `None` if no piece of the source says what
    /// was recovered, or several do that are not the same.
    pub fn condition(&self, line: u32, condition: &Condition) -> Option<SourceText> {
        let text = condition.text.as_deref()?;
        let found = self.as_said(line, text, condition.kind);
        // Of enums, Kotlin's `==` is the same as `===`.
        let same = || text.replace(" === ", " == ").replace(" !== ", " != ");
        found.or_else(|| {
            if text.contains(" === ") || text.contains(" !== ") {
                self.as_said(line, &same(), condition.kind)
            } else {
                None
            }
        })
    }

    fn as_said(&self, line: u32, text: &str, kind: ConditionKind) -> Option<SourceText> {
        if let Some(text) = self.find(line, text, kind, false) {
            return Some(SourceText {
                text,
                opposite: false,
            });
        }
        // `!(a || b)` is compiled as `!a` and `!b`.
        let text = self.find(line, &opposite(text)?, kind, true)?;
        Some(SourceText { text, opposite: true })
    }

    fn find(&self, line: u32, recovered: &str, kind: ConditionKind, negated: bool) -> Option<String> {
        let recovered = tokens(recovered);
        let recovered: Vec<&Token> = recovered.iter().collect();
        let wanted = stripped(&recovered);
        if wanted.is_empty() {
            return None;
        }
        let near = self.near(line);
        // A comparison has no line of its own: it may stand further down in its statement.
        let behind = near.partition_point(|t| t.line <= line);
        let open = behind > 0 && near[behind - 1].line == line && !ends_statement(&near[behind - 1]);
        let rest = near[behind..].iter().take_while(|t| !ends_statement(t)).count();
        let of_statement = behind..behind + if open { rest } else { 0 };
        let mut best: Option<(MatchQuality, String)> = None;
        for start in 0..near.len() {
            if !begins(&near, start, kind, negated) {
                continue;
            }
            for end in ends(&near, start) {
                let piece = &near[start..end];
                if !piece.iter().any(|t| t.line == line) && !of_statement.contains(&start) {
                    continue;
                }
                let found = fit(&wanted, &stripped(&piece.iter().collect::<Vec<_>>()));
                if found == MatchQuality::No {
                    continue;
                }
                let text = self.join(without_outer_parentheses(piece));
                match &best {
                    Some((fit, _)) if *fit > found => {}
                    Some((fit, other)) if *fit == found && *other != text => return None,
                    _ => best = Some((found, text)),
                }
            }
        }
        best.map(|(_, text)| text)
    }

    fn near(&self, line: u32) -> Vec<Token> {
        let from = self.tokens.partition_point(|t| t.line + REACH < line);
        let to = self.tokens.partition_point(|t| t.line <= line + REACH);
        self.tokens[from..to].to_vec()
    }

    /// The piece in the author's spelling, on one line.
    fn join(&self, piece: &[Token]) -> String {
        let mut out = String::new();
        for (index, token) in piece.iter().enumerate() {
            if index > 0 && piece[index - 1].end < token.start {
                out.push(' ');
            }
            out.extend(
                self.text[token.start..token.end]
                    .chars()
                    .filter(|c| !c.is_control()),
            );
        }
        if let Some((cut, _)) = out.char_indices().nth(MAX_SOURCE_TEXT) {
            out.truncate(cut);
            out.push('…');
        }
        out
    }
}

fn ends_statement(token: &Token) -> bool {
    token.is(";") || token.is("{") || token.is("}")
}

/// The piece without parentheses around all of it.
fn without_outer_parentheses(mut piece: &[Token]) -> &[Token] {
    while let [first, inner @ .., last] = piece
        && first.is("(")
        && last.is(")")
    {
        let mut depth = 0i32;
        let closed_before = inner.iter().any(|t| {
            depth += i32::from(t.is("(")) - i32::from(t.is(")"));
            depth < 0
        });
        if closed_before || inner.is_empty() {
            break;
        }
        piece = inner;
    }
    piece
}

/// Returns true if a condition can begin at this token. `negated`: also first in what is negated as a whole.
fn begins(tokens: &[Token], start: usize, kind: ConditionKind, negated: bool) -> bool {
    let Some(before) = start.checked_sub(1).map(|i| &tokens[i]) else {
        return false;
    };
    if kind == ConditionKind::ForEach {
        // Behind the type of the variable.
        return tokens[start].kind == TokenKind::Word
            && tokens.get(start + 1).is_some_and(|t| t.is(":") || t.is("in"))
            && tokens[..start].iter().rev().take(12).any(|t| t.is("for"));
    }
    match before.kind {
        TokenKind::Word => matches!(
            before.text.as_str(),
            "return" | "assert" | "yield" | "case" | "else"
        ),
        // What is negated as a whole is the opposite.
        TokenKind::Sign if before.is("(") && start >= 2 && tokens[start - 2].is("!") => negated,
        TokenKind::Sign => matches!(
            before.text.as_str(),
            "(" | "&&" | "||" | "?" | ":" | "=" | "," | ";" | "{" | "->" | "?:" | "&" | "|" | "}"
        ),
        _ => false,
    }
}

/// Where an expression that begins at `start` can end.
fn ends(tokens: &[Token], start: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut depth = 0i32;
    for (offset, token) in tokens[start..].iter().enumerate().take(MAX_TOKENS) {
        let end = start + offset;
        if depth == 0
            && end > start
            && token.kind == TokenKind::Sign
            && matches!(
                token.text.as_str(),
                ")" | "&&" | "||" | "?" | ":" | ";" | "," | "?:" | "}" | "{" | "->" | "]"
            )
        {
            found.push(end);
        }
        match token.text.as_str() {
            _ if matches!(token.kind, TokenKind::Text(_)) => {}
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            ";" if depth == 0 => break,
            _ => {}
        }
        if depth < 0 {
            break;
        }
    }
    found
}

/// The text that says the opposite, if the text is a comparison, negated, or without operators.
fn opposite(text: &str) -> Option<String> {
    const SIGNS: [(&str, &str); 8] = [
        (" === ", " !== "),
        (" !== ", " === "),
        (" == ", " != "),
        (" != ", " == "),
        (" <= ", " > "),
        (" >= ", " < "),
        (" < ", " >= "),
        (" > ", " <= "),
    ];
    if let Some(rest) = text.strip_prefix('!') {
        return Some(rest.to_owned());
    }
    let mut found = SIGNS.iter().filter(|(sign, _)| text.contains(sign));
    match (found.next(), found.next()) {
        (Some((sign, other)), None) => Some(text.replacen(sign, other, 1)),
        (None, _) => Some(format!("!({text})")),
        _ => None,
    }
}
