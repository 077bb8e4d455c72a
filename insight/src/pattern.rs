//! `Class#method` with `*` and `?`.

use wildmatch::WildMatch;

use crate::names;

/// A pattern over methods.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodPattern {
    class: WildMatch,
    method: Option<WildMatch>,
    /// True if the package is in the pattern, and if the parameters are.
    has: (bool, bool),
}

/// A pattern that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("method pattern '{pattern}': {reason}")]
pub struct PatternError {
    /// The pattern as given.
    pub pattern: String,
    /// The error.
    pub reason: &'static str,
}

impl MethodPattern {
    /// Reads `Class#method`, or `Class` for all methods of it.
    ///
    /// # Errors
    /// If either part is empty or there is more than one `#`.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        let error = |reason| PatternError {
            pattern: pattern.to_owned(),
            reason,
        };
        let (class, method) = match pattern.split_once('#') {
            Some((class, method)) => (class, Some(method)),
            None => (pattern, None),
        };
        if method.is_some_and(|m| m.contains('#')) {
            return Err(error("more than one '#'; write Class#method"));
        }
        if class.is_empty() || method == Some("") {
            return Err(error("a class or method name is empty; use '*' for any"));
        }
        let class = class.replace('.', "/");
        Ok(MethodPattern {
            class: WildMatch::new(&class),
            method: method.map(WildMatch::new),
            has: (class.contains('/'), method.is_some_and(|m| m.contains('('))),
        })
    }

    /// True if it matches this method. `class` is the internal name; `method` may be matched with its descriptor
    /// (`m(I)V`) or without.
    pub fn matches(&self, class: &str, method: &str, descriptor: &str) -> bool {
        let simple = names::simple(class);
        let (has_package, has_parameters) = self.has;
        let class_fits = self.class.matches(class) || (!has_package && self.class.matches(simple));
        let method_fits = |pattern: &WildMatch| {
            if has_parameters {
                pattern.matches(&format!("{method}{descriptor}"))
            } else {
                pattern.matches(method)
            }
        };
        class_fits && self.method.as_ref().is_none_or(method_fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(pattern: &str, class: &str, method: &str) -> bool {
        MethodPattern::new(pattern)
            .unwrap()
            .matches(class, method, "(I)V")
    }

    #[test]
    fn patterns_match() {
        assert!(hits("a.b.C#m", "a/b/C", "m"));
        assert!(hits("a/b/C", "a/b/C", "m"));
        assert!(hits("C#m", "a/b/C", "m"));
        assert!(hits("*#m?", "a/b/C", "m1"));
        assert!(hits("*C#*", "a/b/C", "<init>"));
        assert!(hits("C#m(I)*", "a/b/C", "m"));
        assert!(!hits("C#m(J)*", "a/b/C", "m"));
        assert!(!hits("b/C#m", "a/b/C", "m"));
        assert!(!hits("C#m", "a/b/C", "mm"));
        assert!(!hits("C?#m", "a/b/C", "m"));
    }

    #[test]
    fn bad_patterns_say_why() {
        for bad in ["", "#m", "C#", "C#m#n"] {
            assert!(MethodPattern::new(bad).is_err(), "{bad}");
        }
    }
}
