//! The program of [`contexts`](crate::contexts), obeying letters: it does one thing per letter, and says when
//! it has.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Result;
use crate::contexts::java;
use crate::jdk::Jdk;
use crate::profile::SUSPICIOUS;

/// The program, running.
pub struct Obedient {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Obedient {
    /// Starts it, under a JVM that checks all it can; it waits for letters.
    ///
    /// # Errors
    /// If it cannot be compiled, or ends at once.
    pub fn start(jdk: &Jdk) -> Result<Self> {
        Self::start_as(jdk, &SUSPICIOUS.map(str::to_owned), &["obey"])
    }

    /// Starts it with other flags and arguments. It says `ready` before it does anything.
    ///
    /// # Errors
    /// As above.
    pub fn start_as(jdk: &Jdk, flags: &[String], arguments: &[&str]) -> Result<Self> {
        Self::run(&mut java(jdk, flags, arguments)?)
    }

    /// Starts it by a command from [`java`].
    ///
    /// # Errors
    /// As above.
    pub fn run(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no stdin")?;
        let output = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut program = Obedient { child, input, output };
        program.hear("ready")?;
        Ok(program)
    }

    /// Its process's number.
    pub fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// Waits until it says this.
    ///
    /// # Errors
    /// If it ends first.
    pub fn hear(&mut self, word: &str) -> Result<()> {
        let mut line = String::new();
        // The JVM itself may warn of agents that come late.
        while line.trim() != word {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                return Err(format!("it ended before it said '{word}'").into());
            }
        }
        Ok(())
    }

    /// Sends it a command, and does not wait until it has obeyed.
    ///
    /// # Errors
    /// If it does not listen any more.
    pub fn tell(&mut self, letter: u8) -> Result<()> {
        self.input.write_all(&[letter, b'\n'])?;
        Ok(self.input.flush()?)
    }

    /// One thing after the other.
    ///
    /// # Errors
    /// If it ends before the last one is done.
    pub fn obey(&mut self, letters: &str) -> Result<()> {
        for letter in letters.bytes() {
            self.tell(letter)?;
            self.hear("ready")?;
        }
        Ok(())
    }

    /// Lets it do what it does when there are no more letters, and end.
    ///
    /// # Errors
    /// If it does not end well.
    pub fn end(mut self) -> Result<()> {
        drop(self.input);
        // Or it could not say what it has to say.
        self.output.read_to_end(&mut Vec::new())?;
        match self.child.wait()? {
            status if status.success() => Ok(()),
            status => Err(format!("it ended with {status}").into()),
        }
    }
}
