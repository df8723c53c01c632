//! What the user of `locktrace top` looks at, and how keys change it.

use std::sync::Arc;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::top::snapshot::{Blocked, Row, Table, TopSnapshot, Window};

/// The two tables of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pane {
    /// Threads that are blocked now.
    Blocked,
    /// What was blocked most lately.
    Table,
}

/// What the rows of the lower table are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Blocked,
    Waits,
    Longest,
    LockClass,
}

impl Sort {
    fn next(self) -> Self {
        match self {
            Self::Blocked => Self::Waits,
            Self::Waits => Self::Longest,
            Self::Longest => Self::LockClass,
            Self::LockClass => Self::Blocked,
        }
    }
}

/// What the blocked threads are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockedSort {
    Longest,
    /// The thread that all others of a chain wait for.
    Root,
    Thread,
}

impl BlockedSort {
    fn next(self) -> Self {
        match self {
            Self::Longest => Self::Root,
            Self::Root => Self::Thread,
            Self::Thread => Self::Longest,
        }
    }
}

/// What fills the screen.
#[derive(Clone, Debug)]
pub(crate) enum View {
    Tables,
    /// The text of the filter is being typed.
    Typing,
    /// Both call chains, as they were when the user asked for them.
    Stacks(Details),
    Help,
}

/// What the call chains are of.
#[derive(Clone, Debug)]
pub(crate) struct Details {
    pub(crate) of: Subject,
    /// Which of several pairs, or owners, is shown.
    pub(crate) place: usize,
    /// Lines scrolled over.
    pub(crate) scroll: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Subject {
    Blocked(Blocked),
    Row(Row),
}

impl Subject {
    /// How many there are to go through.
    pub(crate) fn places(&self) -> usize {
        match self {
            Self::Blocked(blocked) => blocked.owners.len(),
            Self::Row(row) => row.pairs.len(),
        }
    }
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    GoOn,
    Quit,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) snapshot: Option<Arc<TopSnapshot>>,
    pub(crate) is_paused: bool,
    pub(crate) window: Window,
    pub(crate) focus: Pane,
    pub(crate) sort: Sort,
    pub(crate) blocked_sort: BlockedSort,
    /// What a name has to contain, in whatever case.
    pub(crate) filter: String,
    pub(crate) view: View,
    /// The row selected in each pane.
    selected: [usize; 2],
}

impl Default for State {
    fn default() -> Self {
        Self {
            snapshot: None,
            is_paused: false,
            window: Window::default(),
            focus: Pane::Table,
            sort: Sort::Blocked,
            blocked_sort: BlockedSort::Longest,
            filter: String::new(),
            view: View::Tables,
            selected: [0; 2],
        }
    }
}

impl State {
    /// There is a newer snapshot. It is shown unless the user wants to look at the old one.
    pub(crate) fn update(&mut self, snapshot: Arc<TopSnapshot>) {
        if self.is_paused {
            return;
        }
        let before = [Pane::Blocked, Pane::Table].map(|pane| self.identity(pane));
        self.snapshot = Some(snapshot);
        for (pane, before) in [Pane::Blocked, Pane::Table].into_iter().zip(before) {
            let at = (0..self.len(pane))
                .find(|&at| before.is_some() && self.identity_at(pane, at) == before);
            if let Some(at) = at {
                self.selected[pane as usize] = at;
            }
        }
    }

    /// The table of the window chosen.
    pub(crate) fn table(&self) -> Option<&Table> {
        let snapshot = self.snapshot.as_ref()?;
        snapshot.tables.get(self.window as usize)
    }

    /// The blocked threads to show, in their order.
    pub(crate) fn blocked(&self) -> Vec<&Blocked> {
        let blocked = self.snapshot.iter().flat_map(|snapshot| &snapshot.blocked);
        let mut blocked: Vec<_> = blocked
            .filter(|blocked| {
                let owners = blocked.owners.iter().map(|owner| &owner.thread);
                self.matches([&blocked.thread, &blocked.lock].into_iter().chain(owners))
            })
            .collect();
        let root = |blocked: &Blocked| blocked.owners.last().map(|owner| owner.thread.clone());
        match self.blocked_sort {
            BlockedSort::Longest => {}
            BlockedSort::Root => blocked.sort_by_key(|blocked| root(blocked)),
            BlockedSort::Thread => blocked.sort_by_key(|blocked| blocked.thread.clone()),
        }
        blocked
    }

    /// The rows to show of the lower table, in their order.
    pub(crate) fn rows(&self) -> Vec<&Row> {
        let rows = self.table().into_iter().flat_map(|table| &table.rows);
        let mut rows: Vec<_> = rows
            .filter(|row| {
                let methods = row.pairs.iter().map(|pair| &pair.method);
                self.matches([&row.lock_class, &row.owner].into_iter().chain(methods))
            })
            .collect();
        rows.sort_by(|a, b| {
            let names = (&a.lock_class, &a.owner).cmp(&(&b.lock_class, &b.owner));
            let order = match self.sort {
                Sort::Blocked => b.sums.blocked_ns.cmp(&a.sums.blocked_ns),
                Sort::Waits => b.sums.waits.cmp(&a.sums.waits),
                Sort::Longest => b.sums.longest_ns.cmp(&a.sums.longest_ns),
                Sort::LockClass => names,
            };
            order.then(names)
        });
        rows
    }

    fn matches<'n>(&self, mut names: impl Iterator<Item = &'n String>) -> bool {
        let wanted = self.filter.to_lowercase();
        wanted.is_empty() || names.any(|name| name.to_lowercase().contains(&wanted))
    }

    fn len(&self, pane: Pane) -> usize {
        match pane {
            Pane::Blocked => self.blocked().len(),
            Pane::Table => self.rows().len(),
        }
    }

    /// The row selected in a pane; there may be none.
    pub(crate) fn selected(&self, pane: Pane) -> usize {
        self.selected[pane as usize].min(self.len(pane).saturating_sub(1))
    }

    fn identity(&self, pane: Pane) -> Option<(String, String)> {
        self.identity_at(pane, self.selected(pane))
    }

    /// What a row is known by in the next snapshot.
    fn identity_at(&self, pane: Pane, at: usize) -> Option<(String, String)> {
        match pane {
            Pane::Blocked => {
                let blocked = *self.blocked().get(at)?;
                Some((blocked.thread.clone(), blocked.id.to_string()))
            }
            Pane::Table => {
                let row = *self.rows().get(at)?;
                Some((row.lock_class.clone(), row.owner.clone()))
            }
        }
    }

    /// The user has pressed a key.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Flow {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Flow::Quit;
        }
        match &mut self.view {
            View::Typing => self.type_filter(key.code),
            View::Stacks(details) => {
                let places = details.of.places();
                match key.code {
                    KeyCode::Char('q') => return Flow::Quit,
                    KeyCode::Esc | KeyCode::Enter | KeyCode::Backspace => self.view = View::Tables,
                    KeyCode::Char('?') => self.view = View::Help,
                    KeyCode::Down | KeyCode::Char('j') => details.scroll += 1,
                    KeyCode::Up | KeyCode::Char('k') => {
                        details.scroll = details.scroll.saturating_sub(1);
                    }
                    KeyCode::PageDown => details.scroll += PAGE,
                    KeyCode::PageUp => details.scroll = details.scroll.saturating_sub(PAGE),
                    KeyCode::Right | KeyCode::Char('n') => {
                        details.place = (details.place + 1).min(places.saturating_sub(1));
                    }
                    KeyCode::Left | KeyCode::Char('b') => {
                        details.place = details.place.saturating_sub(1);
                    }
                    _ => {}
                }
            }
            View::Help => match key.code {
                KeyCode::Char('q') => return Flow::Quit,
                _ => self.view = View::Tables,
            },
            View::Tables => return self.key_in_tables(key.code),
        }
        Flow::GoOn
    }

    fn key_in_tables(&mut self, key: KeyCode) -> Flow {
        match key {
            KeyCode::Char('q') => return Flow::Quit,
            KeyCode::Char('?' | 'h') => self.view = View::Help,
            KeyCode::Char('p' | ' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('w') => self.window = self.window.next(),
            KeyCode::Char('/') => self.view = View::Typing,
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Char('s') => match self.focus {
                Pane::Blocked => self.blocked_sort = self.blocked_sort.next(),
                Pane::Table => self.sort = self.sort.next(),
            },
            KeyCode::Tab | KeyCode::BackTab => {
                self.focus = match self.focus {
                    Pane::Blocked => Pane::Table,
                    Pane::Table => Pane::Blocked,
                };
            }
            KeyCode::Enter => {
                if let Some(of) = self.subject() {
                    self.view = View::Stacks(Details {
                        of,
                        place: 0,
                        scroll: 0,
                    });
                }
            }
            KeyCode::Down | KeyCode::Char('j') => self.select(|at| at + 1),
            KeyCode::Up | KeyCode::Char('k') => self.select(|at| at.saturating_sub(1)),
            KeyCode::PageDown => self.select(|at| at + PAGE),
            KeyCode::PageUp => self.select(|at| at.saturating_sub(PAGE)),
            KeyCode::Home | KeyCode::Char('g') => self.select(|_| 0),
            KeyCode::End | KeyCode::Char('G') => self.select(|_| usize::MAX),
            _ => {}
        }
        Flow::GoOn
    }

    fn select(&mut self, to: impl Fn(usize) -> usize) {
        let (pane, at) = (self.focus, self.selected(self.focus));
        self.selected[pane as usize] = to(at).min(self.len(pane).saturating_sub(1));
    }

    /// What is selected.
    fn subject(&self) -> Option<Subject> {
        let at = self.selected(self.focus);
        match self.focus {
            Pane::Blocked => self
                .blocked()
                .get(at)
                .map(|&blocked| Subject::Blocked(blocked.clone())),
            Pane::Table => self.rows().get(at).map(|&row| Subject::Row(row.clone())),
        }
    }

    fn type_filter(&mut self, key: KeyCode) {
        match key {
            KeyCode::Enter => self.view = View::Tables,
            KeyCode::Esc => {
                self.filter.clear();
                self.view = View::Tables;
            }
            KeyCode::Backspace => {
                self.filter.pop();
            }
            KeyCode::Char(character) => self.filter.push(character),
            _ => {}
        }
    }
}

/// Rows that a page key goes over.
const PAGE: usize = 10;
