//! What keys mean.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::model::{Key, Sort};

/// The meaning of a key, if it has one.
pub fn meaning(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    if event.modifiers.contains(KeyModifiers::CONTROL) {
        // The terminal is raw: it makes no signals of these.
        return match event.code {
            KeyCode::Char('c' | 'd' | '\\') => Some(Key::Quit),
            _ => None,
        };
    }
    Some(match event.code {
        KeyCode::Up | KeyCode::Char('k') => Key::Up,
        KeyCode::Down | KeyCode::Char('j') => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home | KeyCode::Char('g') => Key::First,
        KeyCode::End | KeyCode::Char('G') => Key::Last,
        KeyCode::Enter | KeyCode::Right => Key::Open,
        KeyCode::Esc | KeyCode::Backspace | KeyCode::Left => Key::Back,
        KeyCode::Char('t') => Key::Sort(Sort::Time),
        KeyCode::Char('e') => Key::Sort(Sort::Executions),
        KeyCode::Char('d') => Key::Sort(Sort::Decisions),
        KeyCode::Char(' ') => Key::Freeze,
        KeyCode::Char('r') => Key::Span,
        KeyCode::Char('?' | 'h') => Key::Help,
        KeyCode::Char('q') => Key::Quit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_c_is_a_key_of_a_raw_terminal() {
        let key = |code, modifiers| meaning(KeyEvent::new(code, modifiers));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Quit));
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::NONE), None);
        assert_eq!(
            key(KeyCode::Char('d'), KeyModifiers::NONE),
            Some(Key::Sort(Sort::Decisions))
        );
        assert_eq!(key(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Key::Last));
    }
}
