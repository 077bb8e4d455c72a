//! Parts that several sections of the page have.

use maud::{Markup, html};
use trodden_insight::source::Sources;

/// The head of a page. An empty icon is in it, so that no browser goes looking for one.
pub(crate) fn head(title: &str, style: &Markup) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) }
            link rel="icon" href="data:,";
            (style)
        }
    }
}

/// The search field of a table, in which [`search_field`] shows `hint` while it is empty.
pub(crate) fn search(id: &str, hint: &str) -> Markup {
    search_field(id, "Search ", hint)
}

/// The search field of an icicle.
pub(crate) fn find(icicle: &str) -> Markup {
    search_field(&format!("{icicle}-search"), "Highlight ", "class or method")
}

/// A field, and what it found: an output whose id ends with `-found`.
fn search_field(id: &str, label: &str, hint: &str) -> Markup {
    let found = format!("{}-found", id.trim_end_matches("-search"));
    html! {
        p.search.with-script {
            label for=(id) { (label) }
            input type="search" id=(id) aria-controls=(found) placeholder=(hint) autocomplete="off" spellcheck="false";
            " " output id=(found) for=(id) aria-live="polite" {}
        }
    }
}

/// Text whose long names can be broken where their parts meet: `a.b.Outer$Inner.method(`, not within a word.
pub(crate) fn breakable(text: &str) -> Markup {
    /// Names up to this length fit everywhere.
    const SHORT: usize = 24;
    html! {
        @for word in text.split_inclusive(' ') {
            @if word.chars().count() <= SHORT { (word) } @else {
                @for (at, part) in parts(word).iter().enumerate() { @if at > 0 { wbr; } (part) }
            }
        }
    }
}

/// The parts of a name: each but the last ends with a point, a `$` or an opening parenthesis.
fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, c) in name.char_indices().filter(|(_, c)| matches!(c, '.' | '$' | '(')) {
        let to = at + c.len_utf8();
        // Not in front of `)`, and not within a number.
        if name[to..].starts_with(|next: char| next.is_alphabetic() || next == '_') {
            parts.push(&name[from..to]);
            from = to;
        }
    }
    parts.push(&name[from..]);
    parts
}

/// The lines of a class's source around one, which is marked; none if there is no such line.
pub(crate) fn source_around(
    sources: &Sources,
    class: &str,
    file: Option<&str>,
    line: Option<u32>,
    around: u32,
) -> Option<Markup> {
    let line = line?;
    let text = sources.find(class, file)?;
    let lines = text.lines.iter().zip(1u32..);
    let near = lines.filter(|(_, number)| number.abs_diff(line) <= around);
    Some(html! {
        div.scroll { table.source { tbody { @for (text, number) in near {
            tr.on-path[number == line] {
                td.line { (number) }
                td.text { @if number == line { mark { code { (text) } } } @else { code { (text) } } }
            }
        } } } }
    })
}

/// A bar for a share from 0 to 1; the number stands beside it, so it is hidden from screen readers.
pub(crate) fn bar(share: f64) -> Markup {
    html! { span.bar aria-hidden="true" { i style={ "width:" (format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0)) } {} } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_break_where_parts_meet() {
        let found = |text: &str| breakable(text).into_string();
        assert_eq!(found("a.B.c() takes 98.4 %"), "a.B.c() takes 98.4 %");
        assert_eq!(
            found("in TypedScopeCreator$AbstractScopeBuilder.define(Node, long)"),
            "in TypedScopeCreator$<wbr>AbstractScopeBuilder.<wbr>define(<wbr>Node, long)"
        );
        assert_eq!(
            found("SyntacticScopeCreator.createScope()"),
            "SyntacticScopeCreator.<wbr>createScope()"
        );
    }
}
