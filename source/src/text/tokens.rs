//! Source text as tokens, for Java and Kotlin alike. Nothing is ever an error: what is not understood is an
//! operator.

/// The kind of token.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// Identifier or keyword.
    Word,
    /// A whole number, or a character's.
    Integer(i64),
    /// Any other number.
    Real(f64),
    /// A string's content, escapes decoded.
    Text(String),
    /// Everything else.
    Sign,
    /// `…`: anything.
    Cut,
}

/// A token and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// TokenKind.
    pub kind: TokenKind,
    /// As written.
    pub text: String,
    /// Line, from 1.
    pub line: u32,
    /// First byte.
    pub start: usize,
    /// Byte behind it.
    pub end: usize,
}

impl Token {
    /// Returns true if it is written like this.
    pub fn is(&self, text: &str) -> bool {
        self.text == text && !matches!(self.kind, TokenKind::Text(_))
    }
}

/// Signs of more than one character, longest first.
const SIGNS: &[&str] = &[
    ">>>=", "<<=", ">>=", ">>>", "...", "===", "!==", "->", "::", "++", "--", "&&", "||", "==", "!=", "<=",
    ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", "?.", "?:", "!!", "..",
];

/// Takes a source file apart.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut scanner = Scanner {
        text,
        at: 0,
        line: 1,
        out: Vec::new(),
    };
    scanner.run();
    scanner.out
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    out: Vec<Token>,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Advances by that many bytes, which end at a character's bound.
    fn skip(&mut self, bytes: usize) {
        let passed = &self.text.as_bytes()[self.at..self.at + bytes];
        self.line += passed.iter().filter(|&&b| b == b'\n').count() as u32;
        self.at += bytes;
    }

    fn push(&mut self, kind: TokenKind, bytes: usize) {
        let (start, end) = (self.at, self.at + bytes);
        let text = self.text[start..end].to_owned();
        let line = self.line;
        self.out.push(Token {
            kind,
            text,
            line,
            start,
            end,
        });
        self.skip(bytes);
    }

    fn run(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            let rest = self.rest();
            if c.is_whitespace() {
                self.skip(c.len_utf8());
            } else if rest.starts_with("//") {
                self.skip(rest.find('\n').unwrap_or(rest.len()));
            } else if let Some(comment) = rest.strip_prefix("/*") {
                self.skip(comment.find("*/").map_or(rest.len(), |at| at + 4));
            } else if let Some(block) = rest.strip_prefix("\"\"\"") {
                let len = block.find("\"\"\"").map_or(rest.len(), |at| at + 6);
                let content = block.get(..len.saturating_sub(6)).unwrap_or("").to_owned();
                self.push(TokenKind::Text(content), len);
            } else if c == '"' || c == '\'' {
                self.quoted(c);
            } else if c.is_ascii_digit() || c == '.' && rest[1..].starts_with(|d: char| d.is_ascii_digit()) {
                self.number();
            } else if c == '_' || c == '$' || c.is_alphabetic() {
                let word = |c: char| c == '_' || c == '$' || c.is_alphanumeric();
                let len = rest.find(|c| !word(c)).unwrap_or(rest.len());
                self.push(TokenKind::Word, len);
            } else if c == '`' {
                let len = rest[1..].find('`').map_or(rest.len(), |at| at + 2);
                self.push(TokenKind::Word, len);
            } else if c == '…' {
                self.push(TokenKind::Cut, c.len_utf8());
            } else {
                let long = SIGNS.iter().find(|sign| rest.starts_with(**sign));
                let len = long.map_or(c.len_utf8(), |sign| sign.len());
                self.push(TokenKind::Sign, len);
            }
        }
    }

    fn quoted(&mut self, quote: char) {
        let rest = self.rest();
        let mut content = String::new();
        let mut chars = rest[1..].char_indices();
        let mut len = rest.len();
        while let Some((at, c)) = chars.next() {
            if c == quote || c == '\n' {
                len = at + 1 + usize::from(c == quote);
                break;
            }
            if c != '\\' {
                content.push(c);
                continue;
            }
            let Some((_, escaped)) = chars.next() else { break };
            match escaped {
                'n' => content.push('\n'),
                't' => content.push('\t'),
                'r' => content.push('\r'),
                'b' => content.push('\u{8}'),
                'f' => content.push('\u{c}'),
                's' => content.push(' '),
                'u' => {
                    let mut digits = String::new();
                    while digits.len() < 4 {
                        match chars.clone().next() {
                            Some((_, 'u')) if digits.is_empty() => {}
                            Some((_, d)) if d.is_ascii_hexdigit() => digits.push(d),
                            _ => break,
                        }
                        chars.next();
                    }
                    let code = u32::from_str_radix(&digits, 16).ok();
                    content.push(code.and_then(char::from_u32).unwrap_or('\u{fffd}'));
                }
                '0'..='7' => {
                    let mut value = escaped.to_digit(8).unwrap_or(0);
                    while let Some(digit) = chars.clone().next().and_then(|(_, d)| d.to_digit(8))
                        && value * 8 + digit < 256
                    {
                        value = value * 8 + digit;
                        chars.next();
                    }
                    content.extend(char::from_u32(value));
                }
                other => content.push(other),
            }
        }
        let mut all = content.chars();
        let kind = match (quote, all.next(), all.next()) {
            ('\'', Some(c), None) => TokenKind::Integer(i64::from(u32::from(c))),
            _ => TokenKind::Text(content),
        };
        self.push(kind, len);
    }

    fn number(&mut self) {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let hex = rest.starts_with("0x") || rest.starts_with("0X");
        let mut len = if hex { 2 } else { 0 };
        while let Some(&b) = bytes.get(len) {
            let exponent = len > 0
                && matches!(b, b'+' | b'-')
                && if hex {
                    matches!(bytes[len - 1], b'p' | b'P')
                } else {
                    matches!(bytes[len - 1], b'e' | b'E')
                };
            let range = b == b'.' && bytes.get(len + 1) == Some(&b'.');
            let member = b == b'.' && bytes.get(len + 1).is_some_and(u8::is_ascii_alphabetic);
            if !(b.is_ascii_alphanumeric() || b == b'_' || b == b'.' && !range && !member || exponent) {
                break;
            }
            len += 1;
        }
        let kind = value(&rest[..len]);
        self.push(kind, len);
    }
}

fn value(text: &str) -> TokenKind {
    let plain = text.replace('_', "").to_ascii_lowercase();
    let (digits, radix) = match plain.as_bytes() {
        [b'0', b'x', ..] => (&plain[2..], 16),
        [b'0', b'b', ..] => (&plain[2..], 2),
        [b'0', b'0'..=b'9', ..] if !plain.contains(['.', 'e', 'f', 'd']) => (&plain[1..], 8),
        _ => (plain.as_str(), 10),
    };
    let digits = digits.trim_end_matches(['l', 'u']);
    if let Ok(number) = u64::from_str_radix(digits, radix) {
        // Java's hexadecimal ints wrap.
        let wraps =
            radix != 10 && !plain.ends_with('l') && number > i32::MAX as u64 && number <= u64::from(u32::MAX);
        return TokenKind::Integer(if wraps {
            i64::from(number as u32 as i32)
        } else {
            number as i64
        });
    }
    let real = plain.trim_end_matches(['f', 'd']);
    match real.parse::<f64>() {
        Ok(real) => TokenKind::Real(real),
        Err(_) => TokenKind::Sign,
    }
}
