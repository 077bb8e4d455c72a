//! Data that the page's script draws from, as JSON inside the page. Nothing in it can end its element or start another.

use maud::{Markup, PreEscaped, html};
use serde::{Serialize, Serializer};

/// Greatest number that a script reads exactly.
const EXACT: u64 = 1 << 53;

/// An element with data.
pub(crate) fn data(id: &str, value: &impl Serialize) -> Markup {
    html! { script type="application/json" id=(id) { (PreEscaped(harmless(value))) } }
}

/// JSON without the characters that mean something to HTML, or end a line for a script.
fn harmless(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("strings, numbers and lists of them");
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out
}

/// A number of which no digit is lost: a string where a script would round it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exact(pub u64);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 <= EXACT {
            serializer.serialize_u64(self.0)
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_element() {
        let text = "</script><!--<script>&\u{2028}\"\\";
        let out = data("x", &[text]).into_string();
        let inside = out
            .strip_prefix("<script type=\"application/json\" id=\"x\">")
            .and_then(|rest| rest.strip_suffix("</script>"))
            .unwrap();
        assert!(!inside.contains(['<', '>', '&', '\u{2028}']), "{inside}");
        assert_eq!(serde_json::from_str::<Vec<String>>(inside).unwrap(), [text]);
    }

    #[test]
    fn large_numbers_keep_their_digits() {
        let numbers = [Exact(0), Exact(1 << 53), Exact((1 << 53) + 1), Exact(u64::MAX)];
        assert_eq!(
            serde_json::to_string(&numbers).unwrap(),
            "[0,9007199254740992,\"9007199254740993\",\"18446744073709551615\"]"
        );
    }
}
