//! Paths, lines and facts in the protocol's terms.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::{
    CodeLens, Command, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, InlayHint,
    InlayHintLabel, Location, NumberOrString, Position, Range, Uri,
};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use trodden_report::percent_encoded;

use crate::lsp::ide::{Mark, MethodName, Notice};

/// The command that opens the page.
pub const OPEN_PAGE: &str = "trodden.openPage";

/// The file of a URI; none if it is of another kind, as of text that is in no file yet.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    // The host may be named.
    let path = &rest[rest.find('/')?..];
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    Some(PathBuf::from(decoded.into_owned()))
}

/// The URI of a file.
pub fn uri(path: &Path) -> Option<Uri> {
    Uri::from_str(&format!("file://{}", percent_encoded(path.to_str()?))).ok()
}

/// The code of a line, from 1, of these lines. Positions count UTF-16 units.
pub fn range(lines: &[&str], line: u32) -> Range {
    let text = lines.get(line as usize - 1).copied().unwrap_or_default();
    let units = |text: &str| text.encode_utf16().count() as u32;
    let blanks = &text[..text.len() - text.trim_start().len()];
    let position = |character| Position::new(line - 1, character);
    Range::new(
        position(units(blanks)),
        position(units(text.trim_end()).max(units(blanks))),
    )
}

/// A fact as a line above the code.
pub fn lens(mark: Mark, lines: &[&str]) -> CodeLens {
    CodeLens {
        range: range(lines, mark.line),
        command: Some(open_page(mark.title, mark.method.as_ref())),
        data: None,
    }
}

/// A fact at the end of its line.
pub fn hint(mark: Mark, lines: &[&str]) -> InlayHint {
    InlayHint {
        position: range(lines, mark.line).end,
        label: InlayHintLabel::String(mark.title),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    }
}

/// Something that nothing ran, as a warning at its line.
pub fn diagnostic(notice: &Notice, uri: &Uri, lines: &[&str]) -> Diagnostic {
    let step = |(line, message): &(u32, String)| DiagnosticRelatedInformation {
        location: Location::new(uri.clone(), range(lines, *line)),
        message: message.clone(),
    };
    let steps: Vec<_> = notice.steps.iter().map(step).collect();
    Diagnostic {
        range: range(lines, notice.line),
        severity: Some(match notice.rule {
            Some(_) => DiagnosticSeverity::WARNING,
            None => DiagnosticSeverity::HINT,
        }),
        code: notice.rule.map(|rule| NumberOrString::String(rule.to_owned())),
        source: Some("trodden".to_owned()),
        message: notice.message.clone(),
        related_information: (!steps.is_empty()).then_some(steps),
        ..Diagnostic::default()
    }
}

/// The command that opens the page, at a method if one is named.
pub fn open_page(title: String, method: Option<&MethodName>) -> Command {
    // Neither names of classes nor those of methods have a full stop in class files.
    let argument = |method: &MethodName| format!("{}.{}{}", method.class, method.name, method.descriptor);
    Command {
        title,
        command: OPEN_PAGE.to_owned(),
        arguments: Some(method.map(argument).into_iter().map(Value::String).collect()),
    }
}

/// The method that the command's arguments name.
pub fn method(arguments: &[Value]) -> Option<MethodName> {
    let (class, rest) = arguments.first()?.as_str()?.split_once('.')?;
    let (name, descriptor) = rest.split_at(rest.find('(')?);
    Some(MethodName {
        class: class.to_owned(),
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_their_uris() {
        for file in ["/a b/Ü#?%.java", "/x/A$B.java"] {
            let uri = uri(Path::new(file)).unwrap();
            assert_eq!(path(&uri).unwrap(), Path::new(file), "{}", uri.as_str());
        }
        for (uri, file) in [
            ("file:///a%20b/A.java", Some("/a b/A.java")),
            ("file://localhost/A.java", Some("/A.java")),
            ("untitled:Untitled-1", None),
            ("jdt://contents/rt.jar/A.class", None),
            ("file://host", None),
            ("file:///%ff", None),
        ] {
            let found = path(&Uri::from_str(uri).unwrap());
            assert_eq!(found.as_deref(), file.map(Path::new), "{uri}");
        }
    }

    #[test]
    fn ranges_count_utf_16() {
        let lines = ["  x = \"\u{1f600}\";  ", "", "\ty"];
        let columns = |line| {
            let range = range(&lines, line);
            (range.start.line, range.start.character, range.end.character)
        };
        assert_eq!(columns(1), (0, 2, 11));
        assert_eq!(columns(2), (1, 0, 0));
        assert_eq!(columns(3), (2, 1, 2));
        assert_eq!(columns(9), (8, 0, 0));
    }
}
