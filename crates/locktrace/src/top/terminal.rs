//! The terminal: what is drawn when, and where keys go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use crate::outcome;
use crate::top::render::{self, Look};
use crate::top::snapshot::TopSnapshot;
use crate::top::state::{Flow, State};
use crate::top::text::now_unix_ns;
use crate::top::trace_source::TraceSource;

/// How long to wait for a key before looking whether there is a newer snapshot.
const PAUSE: Duration = Duration::from_millis(100);

/// Shows the newest snapshot once in `interval`, until the user has seen enough: by a key, or by a
/// signal. Returns the last
/// one.
pub(crate) fn run(
    source: &mut TraceSource,
    interval: Duration,
    enough: &AtomicBool,
) -> outcome::Result<Option<Arc<TopSnapshot>>> {
    let mut terminal = ratatui::try_init()?;
    let last = show(&mut terminal, source, interval, enough);
    ratatui::restore();
    last
}

fn show(
    terminal: &mut DefaultTerminal,
    source: &mut TraceSource,
    interval: Duration,
    enough: &AtomicBool,
) -> outcome::Result<Option<Arc<TopSnapshot>>> {
    let has_colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let look = Look {
        colour: has_colours,
    };
    let mut state = State::default();
    let mut newest: Option<Arc<TopSnapshot>> = None;
    let mut next = Instant::now();
    loop {
        if Instant::now() >= next
            && let Some(snapshot) = source.latest()?
        {
            let is_new = newest
                .as_ref()
                .is_none_or(|known| !Arc::ptr_eq(known, &snapshot));
            if is_new {
                next = Instant::now() + interval;
                newest = Some(Arc::clone(&snapshot));
            }
            state.update(snapshot);
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
