//! Patterns that match nothing: which names they may have meant.

use std::collections::BTreeSet;

/// Most names that are shown.
const MAX_SHOWN: usize = 3;

/// The patterns that are most like this one and would match some of these classes (internal names). Best
/// first.
pub fn near_patterns<'a>(pattern: &str, classes: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let (class, method) = match pattern.split_once('#') {
        Some((class, method)) => (class, format!("#{method}")),
        None => (pattern, String::new()),
    };
    let class = class.replace('/', ".");
    let wild = class.find(['*', '?']);
    let literal = class[..wild.unwrap_or(class.len())].trim_end_matches('.');
    let names: BTreeSet<String> = classes.into_iter().map(|name| name.replace('/', ".")).collect();
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: String| {
        if !found.contains(&name) {
            found.push(name);
        }
    };
    match wild {
        // A class: with its package, or spelled otherwise.
        None => {
            let simple = format!(".{literal}");
            let in_package = names.iter().filter(|name| name.ends_with(&simple));
            in_package.for_each(|name| add(name.clone()));
            if let Some(name) = nearest(literal, names.iter().map(String::as_str)) {
                add(name.to_owned());
            }
        }
        // A package, or the beginning of a class's name.
        Some(_) => {
            let packages: BTreeSet<&str> = names.iter().flat_map(|name| packages(name)).collect();
            let inner = format!(".{literal}");
            let in_package = packages.iter().filter(|package| package.ends_with(&inner));
            in_package.for_each(|package| add(format!("{package}.*")));
            if let Some(package) = nearest(literal, packages.iter().copied()) {
                add(format!("{package}.*"));
            }
            if let Some(name) = nearest(literal, names.iter().map(String::as_str)) {
                add(name.to_owned());
            }
        }
    }
    found.truncate(MAX_SHOWN);
    found.into_iter().map(|name| name + &method).collect()
}

/// The package of a class, and those around it.
fn packages(class: &str) -> impl Iterator<Item = &str> {
    class.match_indices('.').map(|(at, _)| &class[..at])
}

/// The word of `known` that is most like `given`, if any is near enough to be a likely slip.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_ascii_lowercase();
    known
        .into_iter()
        .map(|word| {
            (
                strsim::damerau_levenshtein(&given, &word.to_ascii_lowercase()),
                word,
            )
        })
        .filter(|&(distance, word)| distance <= 1 + word.len() / 4)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognized() {
        let classes = [
            "com/acme/app/Main",
            "com/acme/app/Main$Inner",
            "com/acme/shop/Cart",
            "Hello",
        ];
        for (pattern, expected) in [
            ("com.acne.*", &["com.acme.*"][..]),
            ("com.acme.ap.*", &["com.acme.app.*"]),
            ("acme.app.*", &["com.acme.app.*"]),
            ("com/acme/shp/*", &["com.acme.shop.*"]),
            ("Cart", &["com.acme.shop.Cart"]),
            ("com.acme.shop.cart", &["com.acme.shop.Cart"]),
            ("Helo#run", &["Hello#run"]),
            ("Helo*", &["Hello"]),
            ("org.elsewhere.*", &[]),
            ("*Nowhere", &[]),
        ] {
            assert_eq!(near_patterns(pattern, classes), expected, "{pattern}");
        }
    }
}
