//! Which classes and methods are instrumented: JaCoCo's wildcards (`*`, `?`) on class names, and
//! `Class#method` for methods.

use wildmatch::WildMatch;

/// A pattern that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pattern '{pattern}': {reason}")]
pub struct FilterError {
    /// The pattern as given.
    pub pattern: String,
    /// Description of the fault.
    pub reason: &'static str,
}

/// Include and exclude patterns.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

/// A pattern over names of classes, and maybe of methods.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Over internal names.
    class: WildMatch,
    method: Option<WildMatch>,
}

/// Packages of the JDK itself, left alone unless an include pattern names them.
const JDK_PREFIXES: &[&str] = &[
    "java/",
    "javax/",
    "jdk/",
    "sun/",
    "com/sun/",
    "org/ietf/jgss/",
    "org/jcp/",
    "org/w3c/dom/",
    "org/xml/sax/",
    "netscape/javascript/",
];

impl Filter {
    /// Patterns over class names (dots or slashes), optionally `#method`. No include pattern: everything but
    /// the JDK.
    ///
    /// # Errors
    /// If a pattern is empty or has more than one `#`.
    pub fn new<S: AsRef<str>>(include: &[S], exclude: &[S]) -> Result<Self, FilterError> {
        let parse = |p: &S| Pattern::parse(p.as_ref());
        Ok(Filter {
            include: include.iter().map(parse).collect::<Result<_, _>>()?,
            exclude: exclude.iter().map(parse).collect::<Result<_, _>>()?,
        })
    }

    /// Every class, the JDK's own included: for sweeps.
    pub fn everything() -> Self {
        let pattern = |class: &str| Pattern {
            class: WildMatch::new(class),
            method: None,
        };
        let include = std::iter::once(pattern("*"));
        Filter {
            include: include
                .chain(JDK_PREFIXES.iter().map(|p| pattern(&format!("{p}*"))))
                .collect(),
            exclude: Vec::new(),
        }
    }

    /// Returns true if any method of this class (internal name) may be instrumented.
    pub fn class(&self, name: &str) -> bool {
        let excluded = self
            .exclude
            .iter()
            .any(|p| p.method.is_none() && p.class_matches(name));
        let included = match self.include.as_slice() {
            [] => !is_jdk(name),
            patterns => patterns
                .iter()
                .any(|p| p.class_matches(name) && (!is_jdk(name) || p.names_jdk())),
        };
        included && !excluded
    }

    /// Returns true if this method may be instrumented, given that its class may.
    pub fn method(&self, class: &str, method: &str) -> bool {
        let excluded = self
            .exclude
            .iter()
            .any(|p| p.class_matches(class) && p.method_matches(method));
        let included = self.include.is_empty()
            || self
                .include
                .iter()
                .any(|p| p.class_matches(class) && p.method_matches(method));
        included && !excluded
    }
}

/// Returns true for a class (internal name) of the JDK itself.
pub(crate) fn is_jdk(name: &str) -> bool {
    JDK_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

impl Pattern {
    pub(crate) fn parse(pattern: &str) -> Result<Self, FilterError> {
        let error = |reason| FilterError {
            pattern: pattern.to_owned(),
            reason,
        };
        let mut parts = pattern.split('#');
        let class = parts.next().unwrap_or_default();
        let method = parts.next();
        if parts.next().is_some() {
            return Err(error("more than one '#'; write Class#method"));
        }
        if class.is_empty() || method == Some("") {
            return Err(error("a class or method name is empty; use '*' for any"));
        }
        Ok(Pattern {
            class: WildMatch::new(&class.replace('.', "/")),
            method: method.map(WildMatch::new),
        })
    }

    pub(crate) fn class_matches(&self, name: &str) -> bool {
        self.class.matches(name)
    }

    pub(crate) fn method_matches(&self, name: &str) -> bool {
        self.method.as_ref().is_none_or(|method| method.matches(name))
    }

    /// Returns true if the pattern itself is about the JDK (`com.sun.tools.*`), not just wide enough to cover
    /// it (`*`).
    fn names_jdk(&self) -> bool {
        let class = self.class.pattern();
        let fixed = class.split(['*', '?']).next().unwrap_or_default();
        is_jdk(fixed) || JDK_PREFIXES.contains(&format!("{fixed}/").as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(include: &[&str], exclude: &[&str]) -> Filter {
        Filter::new(include, exclude).unwrap()
    }

    #[test]
    fn default_is_all_but_the_jdk() {
        let f = Filter::default();
        assert!(f.class("a/b/C"));
        assert!(f.class("javafoo/C"));
        assert!(!f.class("java/lang/String"));
        assert!(!f.class("com/sun/tools/javac/Main"));
    }

    #[test]
    fn jdk_classes_come_in_by_name_only() {
        assert!(filter(&["com.sun.tools.javac.*"], &[]).class("com/sun/tools/javac/Main"));
        assert!(filter(&["java.util.HashMap"], &[]).class("java/util/HashMap"));
        assert!(!filter(&["*"], &[]).class("java/util/HashMap"));
        assert!(filter(&["*"], &[]).class("a/C"));
    }

    #[test]
    fn everything_is_everything() {
        let f = Filter::everything();
        assert!(f.class("java/lang/String") && f.class("a/C") && f.class("C"));
        assert!(f.method("java/lang/String", "length"));
    }

    #[test]
    fn wildcards() {
        let f = filter(&["a.*.C?"], &[]);
        assert!(f.class("a/b/C1"));
        assert!(f.class("a/b/c/C2"));
        assert!(!f.class("a/b/C"));
        assert!(!f.class("a/b/C12"));
    }

    #[test]
    fn methods() {
        let f = filter(&["a.C#run*"], &["a.C#runSlow"]);
        assert!(f.class("a/C"));
        assert!(f.method("a/C", "runFast"));
        assert!(!f.method("a/C", "runSlow"));
        assert!(!f.method("a/C", "stop"));
        let f = filter(&[], &["a.C#*"]);
        assert!(f.class("a/C") && !f.method("a/C", "x"));
    }

    /// The definition, followed letter by letter.
    fn slow(pattern: &[char], name: &[char]) -> bool {
        match (pattern, name) {
            ([], _) => name.is_empty(),
            (['*', rest @ ..], _) => (0..=name.len()).any(|skipped| slow(rest, &name[skipped..])),
            (['?', rest @ ..], [_, others @ ..]) => slow(rest, others),
            ([one, rest @ ..], [other, others @ ..]) => one == other && slow(rest, others),
            (_, []) => false,
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(20_000))]

        /// Few letters, so that much of it matches by halves; `é` and `Ω` are more than a byte.
        #[test]
        fn patterns_match_as_they_are_defined(pattern in "[aé/*?]{1,8}", name in "[aéΩ/]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<char>>();
            let expected = slow(&chars(&pattern), &chars(&name));
            proptest::prop_assert_eq!(WildMatch::new(&pattern).matches(&name), expected);
            let method = filter(&[&format!("C#{pattern}")], &[]);
            proptest::prop_assert_eq!(method.method("C", &name), expected);
        }
    }

    #[test]
    fn a_question_mark_is_one_character() {
        let f = filter(&["a.Ta?en"], &[]);
        assert!(f.class("a/Tafen") && f.class("a/Taßen") && !f.class("a/Taen"));
    }

    #[test]
    fn bad_patterns() {
        assert!(Filter::new(&["a#b#c"], &[]).is_err());
        assert!(Filter::new(&[""], &[]).is_err());
        assert!(Filter::new(&["a#"], &[]).is_err());
    }
}
