//! What C2 decided, from HotSpot's log of compilations (`-XX:+LogCompilation`).
//!
//! It holds the decisions that `-XX:+PrintInlining` prints, in the same words, but in a file of its own, each
//! compilation in one piece, with counts and without cutting names. (Printed lines of two compiler threads
//! get between each other, and C2 prints its decisions long after the line that names the method.)

use std::io::BufRead;

use rustc_hash::FxHashMap;

/// A compilation by C2 that ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compilation {
    /// `pack.Type.name(Descriptor;)V`.
    pub method: String,
    /// Bytecode index of the loop where it is entered, if it replaces a running activation.
    pub osr: Option<u32>,
    /// HotSpot's number.
    pub id: u32,
    /// Bytes of code that it made; 0 if it failed.
    pub code: u64,
    /// In the order in which they were made.
    pub decisions: Vec<Decision>,
}

/// What became of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// The method that the call is in, itself compiled or inlined.
    pub caller: String,
    /// Bytecode index of the call.
    pub bci: u32,
    /// The method called.
    pub callee: String,
    /// How often the interpreter and C1's code made the call; negative if not known.
    pub count: i64,
    /// Was it inlined?
    pub inlined: bool,
    /// Why, or why not, as HotSpot says it.
    pub reason: String,
}

/// An attribute of an element, with its entities resolved.
fn attribute<'l>(line: &'l str, name: &str) -> Option<std::borrow::Cow<'l, str>> {
    let mut rest = line;
    loop {
        let at = rest.find(name)?;
        let begins = at > 0 && rest.as_bytes()[at - 1] == b' ';
        let value = rest[at + name.len()..].strip_prefix("='");
        match value {
            Some(value) if begins => {
                let value = &value[..value.find('\'')?];
                return Some(if value.contains('&') {
                    value
                        .replace("&lt;", "<")
                        .replace("&gt;", ">")
                        .replace("&apos;", "'")
                        .replace("&quot;", "\"")
                        .replace("&amp;", "&")
                        .into()
                } else {
                    value.into()
                });
            }
            _ => rest = &rest[at + name.len()..],
        }
    }
}

fn number<T: std::str::FromStr>(line: &str, name: &str) -> Option<T> {
    attribute(line, name)?.parse().ok()
}

/// A type as a descriptor has it.
fn descriptor(type_name: &str) -> String {
    match type_name {
        "void" => "V".to_owned(),
        "boolean" => "Z".to_owned(),
        "byte" => "B".to_owned(),
        "char" => "C".to_owned(),
        "short" => "S".to_owned(),
        "int" => "I".to_owned(),
        "long" => "J".to_owned(),
        "float" => "F".to_owned(),
        "double" => "D".to_owned(),
        array if array.starts_with('[') => array.replace('.', "/"),
        class => format!("L{};", class.replace('.', "/")),
    }
}

/// A method whose bytecode is being read: it, the call that was met last, and its decision's place.
#[derive(Debug, Default)]
struct Parsing {
    method: String,
    bci: u32,
    call: Option<usize>,
}

/// Names that the elements of one compilation go by.
#[derive(Debug, Default)]
struct Names {
    types: FxHashMap<u32, String>,
    methods: FxHashMap<u32, String>,
}

impl Names {
    fn method(&mut self, line: &str) -> Option<()> {
        let name_of = |id: u32| self.types.get(&id).map(String::as_str);
        let mut text = format!(
            "{}.{}(",
            name_of(number(line, "holder")?)?,
            attribute(line, "name")?
        );
        for id in attribute(line, "arguments")
            .unwrap_or_default()
            .split_whitespace()
        {
            text += &descriptor(name_of(id.parse().ok()?)?);
        }
        text += ")";
        text += &descriptor(name_of(number(line, "return")?)?);
        self.methods.insert(number(line, "id")?, text);
        Some(())
    }
}

/// Reads a log: the compilations by C2 that it has whole.
///
/// # Errors
/// If it cannot be read.
pub fn read(log: impl BufRead) -> std::io::Result<Vec<Compilation>> {
    let mut all = Vec::new();
    let mut current: Option<Compilation> = None;
    let mut names = Names::default();
    let mut stack: Vec<Parsing> = Vec::new();
    for line in log.split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        let Some(element) = line.strip_prefix('<') else {
            continue;
        };
        let end = element.find([' ', '>', '/']).unwrap_or(element.len());
        let end = if end == 0 {
            element[1..].find('>').map_or(element.len(), |e| e + 1)
        } else {
            end
        };
        match &element[..end] {
            "task" => {
                // Only C1's have a level, and natives are no compilations.
                let by_c2 = number::<u32>(&line, "level").is_none_or(|level| level == 4);
                names = Names::default();
                stack.clear();
                current = by_c2.then(|| Compilation {
                    method: attribute(&line, "method").map_or_else(String::new, |m| written_once(&m)),
                    osr: number(&line, "osr_bci"),
                    id: number(&line, "compile_id").unwrap_or(0),
                    ..Compilation::default()
                });
            }
            "task_done" => {
                if let Some(mut compilation) = current.take() {
                    if attribute(&line, "success").as_deref() == Some("1") {
                        compilation.code = number(&line, "nmsize").unwrap_or(0);
                    }
                    all.push(compilation);
                }
            }
            _ if current.is_none() => {}
            "klass" | "type" => {
                if let (Some(id), Some(name)) = (number(&line, "id"), attribute(&line, "name")) {
                    names.types.insert(id, name.into_owned());
                }
            }
            "method" => {
                names.method(&line);
            }
            "parse" => {
                let method = number(&line, "method").and_then(|id: u32| names.methods.get(&id).cloned());
                stack.push(Parsing {
                    method: method.unwrap_or_default(),
                    ..Parsing::default()
                });
            }
            "/parse" => {
                stack.pop();
            }
            "bc" => {
                if let (Some(top), Some(bci)) = (stack.last_mut(), number(&line, "bci")) {
                    top.bci = bci;
                    top.call = None;
                }
            }
            "call" => {
                let callee = number(&line, "method").and_then(|id: u32| names.methods.get(&id).cloned());
                if let (Some(top), Some(callee), Some(compilation)) = (stack.last_mut(), callee, &mut current)
                {
                    top.call = Some(compilation.decisions.len());
                    compilation.decisions.push(Decision {
                        caller: top.method.clone(),
                        bci: top.bci,
                        callee,
                        count: number(&line, "count").unwrap_or(-1),
                        ..Decision::default()
                    });
                }
            }
            verdict @ ("inline_success" | "inline_fail") => {
                let call = stack.last().and_then(|top| top.call);
                if let (Some(call), Some(compilation)) = (call, &mut current) {
                    let decision = &mut compilation.decisions[call];
                    decision.inlined = verdict == "inline_success";
                    decision.reason = attribute(&line, "reason").unwrap_or_default().into_owned();
                }
            }
            _ => {}
        }
    }
    // A call that nothing was decided about is one of an interface, with a guess for each receiver behind it.
    for compilation in &mut all {
        compilation.decisions.retain(|d| !d.reason.is_empty());
    }
    Ok(all)
}

/// `pack.Type name (I)V` as `pack.Type.name(I)V`.
fn written_once(method: &str) -> String {
    let mut words = method.split(' ');
    let mut text = words.next().unwrap_or_default().to_owned();
    for (separator, word) in [".", ""].into_iter().zip(words) {
        text += separator;
        text += word;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const JDK_17: &str = include_str!("recorded/heapsort-17.xml");
    const JDK_25: &str = include_str!("recorded/heapsort-25.xml");

    fn run_of(log: &str) -> Vec<Compilation> {
        let all = read(log.as_bytes()).unwrap();
        let run = all
            .into_iter()
            .filter(|c| c.method == "trodden.kernels.HeapSort.run()J");
        run.collect()
    }

    fn told(decisions: &[Decision]) -> Vec<(u32, &str, i64, bool, &str)> {
        let telling = decisions.iter().map(|d| {
            let callee = d.callee.rsplit_once('.').map_or("", |(_, name)| name);
            (d.bci, callee, d.count, d.inlined, d.reason.as_str())
        });
        telling.collect()
    }

    #[test]
    fn decisions_of_jdk_17() {
        let run = run_of(JDK_17);
        assert_eq!(run.len(), 1);
        assert_eq!((run[0].id, run[0].osr, run[0].code), (316, None, 1080));
        let expected = [
            (0, "values()[I", 1, false, "already compiled into a medium method"),
            (15, "sink([III)V", 512262, true, "inline (hot)"),
            (48, "sink([III)V", 1078005, true, "inline (hot)"),
            (58, "checksum([I)J", 1, false, "too big"),
        ];
        assert_eq!(told(&run[0].decisions), expected);
    }

    #[test]
    fn decisions_of_jdk_25() {
        let run = run_of(JDK_25);
        assert_eq!(run.len(), 1);
        assert_eq!(run[0].osr, None);
        let told = told(&run[0].decisions);
        assert_eq!(told[0], (0, "values()[I", 1, true, "inline (hot)"));
        // Of the inlined method, and of one inlined into that.
        assert_eq!(told[1], (7, "<init>(J)V", 1, true, "inline (hot)"));
        assert_eq!(run[0].decisions[1].caller, "trodden.kernels.HeapSort.values()[I");
        assert_eq!(told[2], (1, "<init>()V", -1, true, "inline (hot)"));
        assert_eq!(run[0].decisions[2].caller, "trodden.kernels.Rng.<init>(J)V");
        assert_eq!(told[3], (27, "nextLong()J", 1008638, true, "inline (hot)"));
        // And back in the method itself.
        assert_eq!(told[4].0, 15);
        assert_eq!(run[0].decisions[4].caller, run[0].method);
    }

    #[test]
    fn the_first_compiler_is_left_out() {
        let log = "<task compile_id='1' method='a.B c ()V' level='3'>\n<task_done success='1' nmsize='9'/>\n\
                   <task compile_id='2' method='a.B c ()V' osr_bci='7'>\n<task_done success='0' nmsize='9'/>\n\
                   <task compile_id='3' method='a.B d ()V'>\n";
        let all = read(log.as_bytes()).unwrap();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].id, all[0].osr, all[0].code), (2, Some(7), 0));
        assert_eq!(all[0].method, "a.B.c()V");
    }

    #[test]
    fn attributes() {
        let line = "<method id='7' name='&lt;init&gt;' compile_id='9'/>";
        assert_eq!(attribute(line, "id").as_deref(), Some("7"));
        assert_eq!(attribute(line, "name").as_deref(), Some("<init>"));
        assert_eq!(attribute(line, "bytes"), None);
        assert_eq!(descriptor("[Ljava.lang.String;"), "[Ljava/lang/String;");
        assert_eq!(descriptor("a.B$C"), "La/B$C;");
    }
}
