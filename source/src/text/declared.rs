//! Declarations of methods in source files: an editor shows facts about a method where its signature is, and
//! class files know only where its code begins.

use super::{SourceFile, Token, TokenKind};

/// Tokens above the code of a method in which its declaration is looked for.
const MAX_TOKENS: usize = 2_000;
/// Tokens between `fun` or `def` and the name, at most: a receiver, type parameters.
const MAX_RECEIVER: usize = 12;

impl SourceFile {
    /// The line of the declaration of a method or constructor: the nearest one of this name at or above a
    /// line of its code. `None` if there is none, as of code that compilers make.
    pub fn declaration(&self, name: &str, code: u32) -> Option<u32> {
        let end = self.tokens.partition_point(|token| token.line <= code);
        let start = end.saturating_sub(MAX_TOKENS);
        let found = (start..end).rev().find(|&at| {
            let token = &self.tokens[at];
            token.kind == TokenKind::Word && token.text.trim_matches('`') == name && self.declares(at)
        });
        found.map(|at| self.tokens[at].line)
    }

    /// The line of a static initialiser: the nearest `static {` at or above a line of its code.
    pub fn static_initialiser(&self, code: u32) -> Option<u32> {
        let end = self.tokens.partition_point(|token| token.line <= code);
        let pairs = self.tokens[..end].windows(2).rev().take(MAX_TOKENS);
        let mut found = pairs.filter(|pair| pair[0].is("static") && pair[1].is("{"));
        found.next().map(|pair| pair[0].line)
    }

    /// True if the name at this position is being declared, not called.
    fn declares(&self, at: usize) -> bool {
        if !self.may_be_declared(at) {
            return false;
        }
        let rest = &self.tokens[at + 1..];
        if !rest.first().is_some_and(|token| token.is("(")) {
            // The constructor of a record, without parameters.
            return rest.first().is_some_and(|token| token.is("{")) && self.is_modifier(at);
        }
        let mut depth = 0i32;
        let after = rest.iter().position(|token| {
            depth += i32::from(token.is("(")) - i32::from(token.is(")"));
            depth == 0
        });
        let after = after.and_then(|end| rest.get(end + 1));
        after.is_some_and(|token| ["{", "throws", ":", "="].iter().any(|sign| token.is(sign)))
    }

    /// True if a declared name may follow what is in front: a type, a modifier, the end of a member; in
    /// Kotlin and Scala a keyword.
    fn may_be_declared(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).map(|before| &self.tokens[before]) else {
            return false;
        };
        let keyword = |token: &Token| token.is("fun") || token.is("def");
        match before.kind {
            TokenKind::Word => !matches!(
                before.text.as_str(),
                "new"
                    | "return"
                    | "throw"
                    | "else"
                    | "do"
                    | "case"
                    | "yield"
                    | "assert"
                    | "in"
                    | "is"
                    | "when"
            ),
            TokenKind::Sign if before.is(".") => {
                self.tokens[..at].iter().rev().take(MAX_RECEIVER).any(keyword)
            }
            TokenKind::Sign => [">", "]", "{", "}", ";", ")", ">>"]
                .iter()
                .any(|sign| before.is(sign)),
            _ => false,
        }
    }

    fn is_modifier(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| &self.tokens[before]);
        before.is_some_and(|token| {
            ["public", "protected", "private"]
                .iter()
                .any(|word| token.is(word))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JAVA: &str = "class Cart<T> {
    static { a = 1; }
    /** price( of a comment */
    @Deprecated(since = \"1\")
    public <U extends List<T>> Map<String, U> price(
            int age,
            @Nonnull String code) throws Exception {
        if (price(1, code)) {
            return price(2, \"price(\") ;
        }
        new Cart(3) { int size() { return 4; } };
    }
    Cart(int n) {
        this.n = n;
    }
    int[] fact(int n) { return n < 2 ? 1 : fact(n - 1); }
    record Item(String name) {
        public Item {
            if (name == null) throw new Error();
        }
    }
}";

    #[test]
    fn declarations_and_no_calls() {
        let file = SourceFile::new(JAVA);
        for (name, code, line) in [
            ("price", 8, Some(5)),
            ("price", 9, Some(5)),
            ("price", 4, None),
            ("Cart", 14, Some(13)),
            ("size", 11, Some(11)),
            ("fact", 16, Some(16)),
            ("Item", 19, Some(18)),
            ("gone", 19, None),
        ] {
            assert_eq!(file.declaration(name, code), line, "{name} {code}");
        }
        assert_eq!(file.static_initialiser(9), Some(2));
        assert_eq!(file.static_initialiser(1), None);
    }

    #[test]
    fn declarations_of_kotlin_and_scala() {
        let kotlin = "class A {
    fun <T> List<T>.second(): T =
        other.second(1) { it }
    fun `with blanks`(n: Int) = n
    val n: Int
        get() = 5
}
object B { def twice(n: Int): Int = { n * 2 } }";
        let file = SourceFile::new(kotlin);
        for (name, code, line) in [("second", 3, 2), ("with blanks", 4, 4), ("twice", 8, 8)] {
            assert_eq!(file.declaration(name, code), Some(line), "{name}");
        }
        assert_eq!(file.declaration("getN", 6), None);
    }
}
