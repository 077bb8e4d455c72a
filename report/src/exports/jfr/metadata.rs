//! The types of a chunk: events, what their fields refer to, and the annotations by which readers show them.

use super::bytes::Bytes;
use crate::exports::strings::Strings;

/// Number of the event that describes the others.
const METADATA: u32 = 0;
/// Number of the event with the constants that fields refer to.
pub(super) const CHECKPOINT: u32 = 1;

const BOOLEAN: u32 = 2;
const INT: u32 = 3;
const LONG: u32 = 4;
const STRING: u32 = 5;
const LABEL: u32 = 6;
const DESCRIPTION: u32 = 7;
const CATEGORY: u32 = 8;
const TIMESTAMP: u32 = 9;
const TIMESPAN: u32 = 10;
pub(super) const SYMBOL: u32 = 11;
pub(super) const PACKAGE: u32 = 12;
pub(super) const CLASS: u32 = 13;
pub(super) const METHOD: u32 = 14;
pub(super) const FRAME_TYPE: u32 = 15;
const FRAME: u32 = 16;
pub(super) const STACK: u32 = 17;
pub(super) const THREAD_STATE: u32 = 18;
pub(super) const THREAD: u32 = 19;
pub(super) const SAMPLE: u32 = 20;
pub(super) const RECORDING: u32 = 21;
pub(super) const SETTING: u32 = 22;
pub(super) const JVM: u32 = 23;

/// Superclass of events, and of annotations.
const EVENT: &str = "jdk.jfr.Event";
const ANNOTATION: &str = "java.lang.annotation.Annotation";

/// An annotation: its type, and its values.
type Annotation = (u32, &'static [&'static str]);

struct Type {
    id: u32,
    name: &'static str,
    parent: Option<&'static str>,
    /// True for types that are shown as their one field.
    is_simple: bool,
    annotations: &'static [Annotation],
    fields: &'static [Field],
}

struct Field {
    name: &'static str,
    kind: u32,
    /// True if the value is a number among the constants of its type.
    is_constant: bool,
    is_array: bool,
    annotations: &'static [Annotation],
}

const fn plain(name: &'static str, kind: u32) -> Field {
    Field {
        name,
        kind,
        is_constant: false,
        is_array: false,
        annotations: &[],
    }
}

const fn constant(name: &'static str, kind: u32) -> Field {
    Field {
        is_constant: true,
        ..plain(name, kind)
    }
}

const fn array(name: &'static str, kind: u32) -> Field {
    Field {
        is_array: true,
        ..plain(name, kind)
    }
}

const fn said(field: Field, annotations: &'static [Annotation]) -> Field {
    Field { annotations, ..field }
}

const fn basic(id: u32, name: &'static str) -> Type {
    of_fields(id, name, &[])
}

const fn of_fields(id: u32, name: &'static str, fields: &'static [Field]) -> Type {
    Type {
        id,
        name,
        parent: None,
        is_simple: false,
        annotations: &[],
        fields,
    }
}

const fn simple(id: u32, name: &'static str, fields: &'static [Field]) -> Type {
    Type {
        is_simple: true,
        ..of_fields(id, name, fields)
    }
}

const fn annotation(id: u32, name: &'static str, fields: &'static [Field]) -> Type {
    Type {
        parent: Some(ANNOTATION),
        ..of_fields(id, name, fields)
    }
}

const fn event(
    id: u32,
    name: &'static str,
    annotations: &'static [Annotation],
    fields: &'static [Field],
) -> Type {
    Type {
        parent: Some(EVENT),
        annotations,
        ..of_fields(id, name, fields)
    }
}

const TEXT: &[Field] = &[plain("value", STRING)];
const START: Field = said(
    plain("startTime", LONG),
    &[(LABEL, &["Start Time"]), (TIMESTAMP, &["TICKS"])],
);
/// Where JMC's tree of events has what is about the recording.
const ABOUT: Annotation = (CATEGORY, &["Flight Recorder"]);

/// All types. Fields whose value is not known have no place in a type.
const TYPES: &[Type] = &[
    basic(BOOLEAN, "boolean"),
    basic(INT, "int"),
    basic(LONG, "long"),
    basic(STRING, "java.lang.String"),
    annotation(LABEL, "jdk.jfr.Label", TEXT),
    annotation(DESCRIPTION, "jdk.jfr.Description", TEXT),
    annotation(CATEGORY, "jdk.jfr.Category", &[array("value", STRING)]),
    annotation(TIMESTAMP, "jdk.jfr.Timestamp", TEXT),
    annotation(TIMESPAN, "jdk.jfr.Timespan", TEXT),
    simple(SYMBOL, "jdk.types.Symbol", &[plain("string", STRING)]),
    of_fields(PACKAGE, "jdk.types.Package", &[constant("name", SYMBOL)]),
    of_fields(
        CLASS,
        "java.lang.Class",
        &[constant("name", SYMBOL), constant("package", PACKAGE)],
    ),
    of_fields(
        METHOD,
        "jdk.types.Method",
        &[
            constant("type", CLASS),
            constant("name", SYMBOL),
            constant("descriptor", SYMBOL),
        ],
    ),
    simple(FRAME_TYPE, "jdk.types.FrameType", &[plain("description", STRING)]),
    of_fields(
        FRAME,
        "jdk.types.StackFrame",
        &[
            constant("method", METHOD),
            plain("lineNumber", INT),
            plain("bytecodeIndex", INT),
            constant("type", FRAME_TYPE),
        ],
    ),
    of_fields(
        STACK,
        "jdk.types.StackTrace",
        &[plain("truncated", BOOLEAN), array("frames", FRAME)],
    ),
    simple(THREAD_STATE, "jdk.types.ThreadState", &[plain("name", STRING)]),
    of_fields(
        THREAD,
        "java.lang.Thread",
        &[
            plain("osName", STRING),
            plain("osThreadId", LONG),
            plain("javaName", STRING),
            plain("javaThreadId", LONG),
        ],
    ),
    event(
        SAMPLE,
        "jdk.ExecutionSample",
        &[
            (LABEL, &["Method Profiling Sample"]),
            (CATEGORY, &["Java Virtual Machine", "Profiling"]),
            (
                DESCRIPTION,
                &[
                    "A sample of CPU time. When it was taken and in which thread is not known: samples are \
                   spread evenly over the recording",
                ],
            ),
        ],
        &[
            START,
            said(constant("sampledThread", THREAD), &[(LABEL, &["Thread"])]),
            said(constant("stackTrace", STACK), &[(LABEL, &["Stack Trace"])]),
            said(constant("state", THREAD_STATE), &[(LABEL, &["Thread State"])]),
            // As JDK 25's jdk.CPUTimeSample calls it.
            said(
                plain("samplingPeriod", LONG),
                &[
                    (LABEL, &["CPU Time"]),
                    (
                        DESCRIPTION,
                        &["CPU time from the thread's sample before to this one"],
                    ),
                    (TIMESPAN, &["NANOSECONDS"]),
                ],
            ),
        ],
    ),
    event(
        RECORDING,
        "jdk.ActiveRecording",
        &[(LABEL, &["Flight Recording"]), ABOUT],
        &[
            START,
            said(plain("id", LONG), &[(LABEL, &["Id"])]),
            said(plain("name", STRING), &[(LABEL, &["Name"])]),
            said(
                plain("recordingStart", LONG),
                &[
                    (LABEL, &["Start Time"]),
                    (TIMESTAMP, &["MILLISECONDS_SINCE_EPOCH"]),
                ],
            ),
            said(
                plain("recordingDuration", LONG),
                &[(LABEL, &["Recording Duration"]), (TIMESPAN, &["MILLISECONDS"])],
            ),
        ],
    ),
    event(
        SETTING,
        "jdk.ActiveSetting",
        &[(LABEL, &["Recording Setting"]), ABOUT],
        &[
            START,
            said(plain("id", LONG), &[(LABEL, &["Event Id"])]),
            said(plain("name", STRING), &[(LABEL, &["Setting Name"])]),
            said(plain("value", STRING), &[(LABEL, &["Setting Value"])]),
        ],
    ),
    event(
        JVM,
        "jdk.JVMInformation",
        &[
            (LABEL, &["JVM Information"]),
            (CATEGORY, &["Java Virtual Machine"]),
        ],
        &[
            START,
            said(plain("jvmName", STRING), &[(LABEL, &["JVM Name"])]),
            said(
                plain("javaArguments", STRING),
                &[(LABEL, &["Java Application Arguments"])],
            ),
        ],
    ),
];

/// An element of the tree in which types are written.
struct Element {
    name: &'static str,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
}

impl Element {
    fn new(name: &'static str) -> Self {
        Element {
            name,
            attributes: Vec::new(),
            children: Vec::new(),
        }
    }

    fn with(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.attributes.push((name.into(), value.to_string()));
        self
    }

    fn write(&self, strings: &mut Strings, out: &mut Bytes) {
        out.number(strings.number(self.name) as u64);
        out.number(self.attributes.len() as u64);
        for (name, value) in &self.attributes {
            out.number(strings.number(name) as u64);
            out.number(strings.number(value) as u64);
        }
        out.number(self.children.len() as u64);
        for child in &self.children {
            child.write(strings, out);
        }
    }
}

/// Writes the event that describes all others.
pub(super) fn write(out: &mut Bytes) {
    let mut types = Element::new("metadata");
    types.children = TYPES.iter().map(class).collect();
    let mut root = Element::new("root");
    root.children = vec![
        types,
        Element::new("region")
            .with("locale", "en_US")
            .with("gmtOffset", "0"),
    ];
    let (mut strings, mut tree) = (Strings::default(), Bytes::default());
    root.write(&mut strings, &mut tree);
    out.event(METADATA, |event| {
        // Time, duration, and the number of these types among those of the recording.
        for number in [0, 0, 1] {
            event.number(number);
        }
        event.number(strings.all().len() as u64);
        for text in strings.all() {
            event.text(text);
        }
        event.append(&tree);
    });
}

fn class(of: &Type) -> Element {
    let mut element = Element::new("class").with("id", of.id).with("name", of.name);
    if let Some(parent) = of.parent {
        element = element.with("superType", parent);
    }
    if of.is_simple {
        element = element.with("simpleType", true);
    }
    let fields = of.fields.iter().map(|field| {
        let mut element = Element::new("field")
            .with("name", field.name)
            .with("class", field.kind);
        if field.is_constant {
            element = element.with("constantPool", true);
        }
        if field.is_array {
            element = element.with("dimension", 1);
        }
        element.children = field.annotations.iter().map(annotated).collect();
        element
    });
    element.children = of.annotations.iter().map(annotated).chain(fields).collect();
    element
}

fn annotated(&(kind, values): &Annotation) -> Element {
    let mut element = Element::new("annotation").with("class", kind);
    if kind == CATEGORY {
        for (at, value) in values.iter().enumerate() {
            element = element.with(format!("value-{at}"), value);
        }
    } else {
        for value in values {
            element = element.with("value", value);
        }
    }
    element
}
