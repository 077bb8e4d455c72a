//! The terminal while the view is shown; restored when dropped, or when something panics.

use std::io::{self, Stdout};
use std::mem;
use std::panic;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::draw;
use super::model::Model;

/// The terminal, ours for a while.
pub struct Screen(Option<Terminal<CrosstermBackend<Stdout>>>);

impl Screen {
    /// Takes it: raw, on the alternate screen. Panics give it back before they speak.
    pub fn enter() -> io::Result<Self> {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            give_back();
            usual(panic);
        }));
        // From here on it is given back, whatever fails.
        let mut screen = Screen(None);
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen)?;
        screen.0 = Some(Terminal::new(CrosstermBackend::new(io::stdout()))?);
        Ok(screen)
    }

    /// Draws the view.
    pub fn draw(&mut self, model: &mut Model) -> io::Result<()> {
        match &mut self.0 {
            Some(terminal) => terminal.draw(|frame| draw::draw(frame, model)).map(drop),
            None => Ok(()),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
        // It would complain of a terminal that was closed, on that terminal, and panic of that: ratatui's own
        // way of giving back does so, too.
        mem::forget(self.0.take());
    }
}

/// Restores the terminal, if it is still there.
fn give_back() {
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}
