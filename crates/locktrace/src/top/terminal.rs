//! The terminal: what is drawn when, and where keys go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use crate::top::now_unix_ns;
use crate::top::picture::Picture;
use crate::top::render::{self, Look};
use crate::top::source::Source;
use crate::top::state::{Flow, State};

/// How long to wait for a key before looking whether there is a newer picture.
const PAUSE: Duration = Duration::from_millis(100);

/// Shows the newest picture once in `interval`, until the user has seen enough: by a key, or by a
/// signal. Returns the last
/// one.
pub(super) fn run(
    source: &mut impl Source,
    interval: Duration,
    enough: &AtomicBool,
) -> anyhow::Result<Option<Arc<Picture>>> {
    let mut terminal = ratatui::try_init()?;
    let last = show(&mut terminal, source, interval, enough);
    ratatui::restore();
    last
}

fn show(
    terminal: &mut DefaultTerminal,
    source: &mut impl Source,
    interval: Duration,
    enough: &AtomicBool,
) -> anyhow::Result<Option<Arc<Picture>>> {
    let has_colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let look = Look {
        colour: has_colours,
    };
    let mut state = State::default();
    let mut newest: Option<Arc<Picture>> = None;
    let mut next = Instant::now();
    loop {
        if Instant::now() >= next
            && let Some(picture) = source.latest()?
        {
            let is_new = newest
                .as_ref()
                .is_none_or(|known| !Arc::ptr_eq(known, &picture));
            if is_new {
                next = Instant::now() + interval;
                newest = Some(Arc::clone(&picture));
            }
            state.update(picture);
        }
        terminal.draw(|frame| render::draw(frame, &state, look, now_unix_ns()))?;
        if event::poll(PAUSE)?
            && let Event::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
            && state.key(key) == Flow::Quit
        {
            return Ok(newest);
        }
        // Relaxed: it stands for nothing else.
        if enough.load(Ordering::Relaxed) {
            return Ok(newest);
        }
    }
}
