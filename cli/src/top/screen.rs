//! The terminal while the view is shown; as it was before when dropped, or when something panics.

use std::io;

use ratatui::DefaultTerminal;

use super::draw;
use super::model::Model;

/// The terminal, ours for a while.
pub struct Screen(DefaultTerminal);

impl Screen {
    /// Takes it: raw, on the alternate screen. Panics give it back before they speak.
    pub fn enter() -> io::Result<Self> {
        ratatui::try_init()
            .map(Screen)
            .inspect_err(|_| drop(ratatui::try_restore()))
    }

    /// Draws the view.
    pub fn draw(&mut self, model: &mut Model) -> io::Result<()> {
        self.0.draw(|frame| draw::draw(frame, model)).map(drop)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = self.0.show_cursor();
        let _ = ratatui::try_restore();
    }
}
