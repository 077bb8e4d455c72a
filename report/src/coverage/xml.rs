//! Writing XML into memory.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

/// Writes a document's elements into memory, which cannot fail.
pub(super) struct Xml(Writer<Vec<u8>>);

impl Xml {
    /// A document of this type: `report PUBLIC "…" "…"`; without one, if it has none.
    pub fn new(kind: Option<&str>) -> Self {
        let mut xml = Xml(Writer::new(Vec::new()));
        let alone = kind.map(|_| "yes");
        xml.event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), alone)));
        if let Some(kind) = kind {
            xml.event(Event::DocType(BytesText::from_escaped(kind)));
        }
        xml
    }

    /// Begins an element.
    pub fn start(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.event(Event::Start(element(name, attributes)));
    }

    /// An element with nothing in it.
    pub fn empty(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.event(Event::Empty(element(name, attributes)));
    }

    /// An element with text in it.
    pub fn with_text(&mut self, name: &str, text: &str) {
        self.start(name, &[]);
        self.event(Event::Text(BytesText::new(text)));
        self.end(name);
    }

    /// Ends an element.
    pub fn end(&mut self, name: &str) {
        self.event(Event::End(BytesEnd::new(name)));
    }

    /// A line's end, for readers that are people.
    pub fn line(&mut self) {
        self.event(Event::Text(BytesText::from_escaped("\n")));
    }

    fn event(&mut self, event: Event) {
        let written = self.0.write_event(event);
        debug_assert!(written.is_ok());
    }

    /// The document.
    pub fn text(self) -> String {
        let mut text = String::from_utf8_lossy(&self.0.into_inner()).into_owned();
        text.push('\n');
        text
    }
}

fn element<'a>(name: &'a str, attributes: &[(&str, &str)]) -> BytesStart<'a> {
    BytesStart::new(name).with_attributes(attributes.iter().copied())
}
