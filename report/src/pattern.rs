//! `Class#method` with `*` and `?`.

/// A pattern over methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodPattern {
    class: String,
    method: Option<String>,
}

/// A pattern that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("method pattern '{pattern}': {reason}")]
pub struct PatternError {
    /// The pattern as given.
    pub pattern: String,
    /// What is wrong with it.
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
        Ok(MethodPattern {
            class: class.replace('.', "/"),
            method: method.map(str::to_owned),
        })
    }

    /// Does it match this method? `class` is the internal name; `method` may be matched with its descriptor
    /// (`m(I)V`) or without.
    pub fn matches(&self, class: &str, method: &str, descriptor: &str) -> bool {
        let simple = class.rsplit('/').next().unwrap_or(class);
        let class_fits = wild(&self.class, class) || (!self.class.contains('/') && wild(&self.class, simple));
        let method_fits = |m: &str| {
            if m.contains('(') {
                wild(m, &format!("{method}{descriptor}"))
            } else {
                wild(m, method)
            }
        };
        class_fits && self.method.as_deref().is_none_or(method_fits)
    }
}

/// `*` matches any run of characters, `?` a single one. Time is at most the product of the lengths.
fn wild(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    // row[j]: does the pattern read so far match the first j characters of the name?
    let name: Vec<char> = name.chars().collect();
    let mut row = vec![false; name.len() + 1];
    row[0] = true;
    for &p in &pattern {
        let mut next = vec![false; name.len() + 1];
        next[0] = p == '*' && row[0];
        for (j, &n) in name.iter().enumerate() {
            next[j + 1] = match p {
                '*' => row[j + 1] || next[j],
                '?' => row[j],
                c => c == n && row[j],
            };
        }
        row = next;
    }
    row[name.len()]
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
