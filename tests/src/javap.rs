//! Code as the JDK's `javap` sees it: a second reader of class files, which knows nothing of blocks or paths.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use crate::jdk::Jdk;
use crate::trace::MethodId;
use crate::{Result, process};

/// The effect of an instruction on the flow of control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Continues with the next one.
    Next,
    /// `if…`: to this one or to the next.
    Branch(u32),
    /// `goto`.
    Goto(u32),
    /// A switch: targets by key; the key `None` is the default.
    Switch(BTreeMap<Option<i32>, u32>),
    /// A return.
    Return,
    /// `athrow`.
    Throw,
    /// `jsr` and `ret`, of which paths know nothing.
    Subroutine,
}

/// The code of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Instructions by bytecode index.
    pub flow: BTreeMap<u32, Flow>,
    /// Source lines by the bytecode index where they begin.
    pub lines: BTreeMap<u32, u32>,
    /// Where exception handlers begin.
    pub handlers: BTreeSet<u32>,
}

impl Listing {
    /// The source line of an instruction.
    pub fn line(&self, bci: u32) -> Option<u32> {
        self.lines.range(..=bci).next_back().map(|(_, &line)| line)
    }

    /// The instruction behind this one.
    pub fn next(&self, bci: u32) -> Option<u32> {
        self.flow.range(bci + 1..).next().map(|(&next, _)| next)
    }
}

/// The methods with code of all classes below a folder.
///
/// # Errors
/// If `javap` fails, or prints what is not understood.
pub fn read(jdk: &Jdk, classes: &Path) -> Result<BTreeMap<MethodId, Listing>> {
    let mut files = Vec::new();
    let mut folders = vec![classes.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "class") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut javap = jdk.command("javap");
    javap.args(["-v", "-p"]).args(&files);
    let text = process::run(&mut javap, Duration::from_secs(120))?
        .success()?
        .stdout;
    parse(&text)
}

/// Which part of a method's listing a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Handlers,
    Lines,
    Other,
}

/// Reads what `javap -v -p` prints.
///
/// # Errors
/// If an instruction is not understood.
pub fn parse(text: &str) -> Result<BTreeMap<MethodId, Listing>> {
    let mut parser = Parser {
        methods: BTreeMap::new(),
        class: String::new(),
        name: String::new(),
        descriptor: String::new(),
        part: Part::Other,
        switch: None,
    };
    for (number, line) in (1..).zip(text.lines()) {
        parser
            .line(line)
            .map_err(|e| format!("javap, line {number}: {line}: {e}"))?;
    }
    Ok(parser.methods)
}

struct Parser {
    methods: BTreeMap<MethodId, Listing>,
    class: String,
    name: String,
    descriptor: String,
    part: Part,
    /// A switch whose cases follow.
    switch: Option<(u32, BTreeMap<Option<i32>, u32>)>,
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<()> {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim();
        if indent == 0 {
            // Between members, and what follows the last of them.
            self.part = Part::Other;
        } else if let Some(class) = text.strip_prefix("this_class: ").filter(|_| indent == 2) {
            let name = class.split("// ").nth(1).ok_or("no name")?;
            self.class = name.trim().trim_matches('"').to_owned();
        } else if indent == 2 && text.ends_with(';') {
            self.name = name_in(text, &self.class);
            self.part = Part::Other;
        } else if let Some(descriptor) = text.strip_prefix("descriptor: ").filter(|_| indent == 4) {
            self.descriptor = descriptor.to_owned();
        } else if indent == 4 {
            self.part = Part::Other;
            if text == "Code:" {
                self.part = Part::Code;
                let id = self.id();
                if self.methods.insert(id, Listing::default()).is_some() {
                    return Err("the method is there twice".into());
                }
            }
        } else if self.switch.is_some() {
            self.case(text)?;
        } else if indent == 6 && !text.starts_with(|c: char| c.is_ascii_digit()) {
            self.part = match text {
                "Exception table:" => Part::Handlers,
                "LineNumberTable:" => Part::Lines,
                text if text.starts_with("stack=") => self.part,
                _ => Part::Other,
            };
        } else {
            self.content(text)?;
        }
        Ok(())
    }

    fn id(&self) -> MethodId {
        MethodId {
            class: self.class.clone(),
            name: self.name.clone(),
            descriptor: self.descriptor.clone(),
        }
    }

    fn listing(&mut self) -> Result<&mut Listing> {
        let id = self.id();
        Ok(self.methods.get_mut(&id).ok_or("outside of a method")?)
    }

    fn case(&mut self, text: &str) -> Result<()> {
        let (bci, mut cases) = self.switch.take().ok_or("no switch")?;
        if text == "}" {
            self.listing()?.flow.insert(bci, Flow::Switch(cases));
            return Ok(());
        }
        let (key, target) = text.split_once(": ").ok_or("not KEY: TARGET")?;
        let key = match key {
            "default" => None,
            key => Some(key.parse()?),
        };
        cases.insert(key, target.parse()?);
        self.switch = Some((bci, cases));
        Ok(())
    }

    fn content(&mut self, text: &str) -> Result<()> {
        match self.part {
            Part::Code => {
                let (bci, instruction) = text.split_once(": ").ok_or("no instruction")?;
                self.instruction(bci.parse()?, instruction)
            }
            Part::Lines => {
                let entry = text.strip_prefix("line ").ok_or("no line")?;
                let (line, bci) = entry.split_once(": ").ok_or("no line")?;
                // The first of several entries for one place is the one that HotSpot shows.
                let line = line.parse()?;
                self.listing()?.lines.entry(bci.parse()?).or_insert(line);
                Ok(())
            }
            Part::Handlers => {
                if let Some(target) = text.split_whitespace().nth(2).filter(|&t| t != "target") {
                    let target = target.parse()?;
                    self.listing()?.handlers.insert(target);
                }
                Ok(())
            }
            Part::Other => Ok(()),
        }
    }

    fn instruction(&mut self, bci: u32, text: &str) -> Result<()> {
        let mut words = text.split_whitespace();
        let opcode = words.next().ok_or("no opcode")?;
        let mut target = || -> Result<u32> { Ok(words.next().ok_or("no target")?.parse()?) };
        let flow = match opcode {
            "tableswitch" | "lookupswitch" => {
                self.switch = Some((bci, BTreeMap::new()));
                return Ok(());
            }
            "goto" | "goto_w" => Flow::Goto(target()?),
            "athrow" => Flow::Throw,
            "jsr" | "jsr_w" | "ret" => Flow::Subroutine,
            _ if opcode.starts_with("if") => Flow::Branch(target()?),
            _ if opcode.ends_with("return") => Flow::Return,
            _ => Flow::Next,
        };
        self.listing()?.flow.insert(bci, flow);
        Ok(())
    }
}

/// The name in the head of a method: `  static int f(int[], java.lang.String) throws X;`.
fn name_in(head: &str, class: &str) -> String {
    let Some((front, _)) = head.split_once('(') else {
        return if head == "static {};" { "<clinit>" } else { "" }.to_owned();
    };
    let name = front.rsplit(' ').next().unwrap_or_default();
    if name == class.replace('/', ".") {
        "<init>".to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_read() {
        let text = "\
Classfile /x/a/B.class
public class a.B
  this_class: #8                          // a/B
Constant pool:
    #1 = Methodref          #2.#3          // java/lang/Object.\"<init>\":()V
{
  int field;
    descriptor: I
    flags: (0x0000)

  public a.B(int) throws java.lang.Exception;
    descriptor: (I)V
    flags: (0x0001) ACC_PUBLIC
    Code:
      stack=2, locals=3, args_size=2
         0: iload_1
         1: tableswitch   { // 1 to 2
                     1: 28
                     2: 24
               default: 28
          }
        24: aload_0
        25: ifnull        28
        28: areturn
        29: athrow
      Exception table:
         from    to  target type
             0    24    29   any
      LineNumberTable:
        line 5: 0
        line 7: 24
      StackMapTable: number_of_entries = 1
        frame_type = 8 /* same */

  void without();
    descriptor: ()V
    Code:
      stack=0, locals=1, args_size=1
         0: return
      LineNumberTable:
        line 9: 0

  abstract void code();
    descriptor: ()V
      RuntimeVisibleTypeAnnotations:
        0: #25(): LOCAL_VARIABLE
}
SourceFile: \"B.java\"";
        let methods = parse(text).unwrap();
        let id = |name: &str, descriptor: &str| MethodId {
            class: "a/B".to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
        };
        let ids = [id("<init>", "(I)V"), id("without", "()V")];
        assert!(methods.keys().eq(&ids), "{:?}", methods.keys());
        let listing = &methods[&ids[0]];
        let cases = BTreeMap::from([(Some(1), 28), (Some(2), 24), (None, 28)]);
        assert_eq!(
            listing.flow,
            BTreeMap::from([
                (0, Flow::Next),
                (1, Flow::Switch(cases)),
                (24, Flow::Next),
                (25, Flow::Branch(28)),
                (28, Flow::Return),
                (29, Flow::Throw)
            ])
        );
        assert_eq!(listing.handlers, BTreeSet::from([29]));
        assert_eq!(
            [listing.line(0), listing.line(23), listing.line(24)],
            [Some(5), Some(5), Some(7)]
        );
        assert_eq!([listing.next(1), listing.next(29)], [Some(24), None]);
    }

    #[test]
    fn names_of_methods() {
        let name = |head| name_in(head, "a/B$C");
        assert_eq!(name("static {};"), "<clinit>");
        assert_eq!(name("a.B$C(a.B);"), "<init>");
        assert_eq!(
            name("public static <T extends java.lang.Comparable<T>> T f(T, int[]) throws X;"),
            "f"
        );
    }
}
