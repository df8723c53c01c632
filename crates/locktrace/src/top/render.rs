//! Draws the screen of `locktrace top`.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};
use trace_report::name::{fit, width};

use crate::text::human;
use crate::top::snapshot::{Blocked, ChainEnd, Pair, Row, Stack, Standing, TopSnapshot};
use crate::top::state::{BlockedSort, Details, Pane, Sort, State, Subject, View};
use crate::top::text;

/// How things look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Colours may be used. They never carry information alone.
    pub(crate) colour: bool,
}

impl Look {
    fn colour(self, colour: Color) -> Style {
        if self.colour {
            Style::new().fg(colour)
        } else {
            Style::new()
        }
    }

    fn waiting(self) -> Style {
        self.colour(Color::Cyan)
    }

    fn lock(self) -> Style {
        self.colour(Color::Yellow)
    }

    fn owner(self) -> Style {
        self.colour(Color::Magenta)
    }

    fn alarm(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    fn head(self) -> Style {
        Style::new().add_modifier(Modifier::UNDERLINED)
    }

    fn selected(self, row: Line<'_>) -> Line<'_> {
        row.into_iter().map(Span::reversed).collect()
    }
}

/// Draws everything. It is `now_unix_ns` nanoseconds after 1970.
pub(crate) fn draw(frame: &mut Frame<'_>, state: &State, look: Look, now_unix_ns: u64) {
    let [top, middle, bottom] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    draw_top(frame, top, state, look, now_unix_ns);
    match (&state.view, &state.snapshot) {
        (View::Help, _) => frame.render_widget(Paragraph::new(HELP), middle),
        (View::Stacks(details), _) => draw_stacks(frame, middle, details, look),
        (_, Some(snapshot)) => draw_tables(frame, middle, state, snapshot, look),
        (_, None) => frame.render_widget(Paragraph::new("Reading the trace …"), middle),
    }
    draw_bottom(frame, bottom, state, look);
}

const HELP: &str = "
  Up, Down, PgUp, PgDn   select a row; Home and End, the first and the last
  Tab                    to the other table
  Enter                  call chains of the thread that waits and of the owner;
                         there, Left and Right go through several, Esc leaves
  s                      sort by another column
  /                      show only what has this text in a name; Esc: all
  w                      the last 10 s, the last minute, or all of the trace
  p, Space               pause: the screen stays, reading goes on
  q, Ctrl-C              quit

  Held by      who has the lock now, and whom that waits for, to the last one
  ?            nobody was seen to have the lock that the last one waits for
  <another thread>  the last one waits for another thread to act, not for a lock
  Blocked      how long threads were blocked in this time, added up
  Waits        how many waits ended in this time
  Longest      the longest of them, also before this time
  <wait not over>   the owner is known when the wait ends
";

fn draw_top(frame: &mut Frame<'_>, area: Rect, state: &State, look: Look, now_unix_ns: u64) {
    let columns = usize::from(area.width);
    let Some(snapshot) = &state.snapshot else {
        return frame.render_widget(Line::styled("locktrace top", look.title()), area);
    };
    let process = format!("  process {}", snapshot.pid);
    let paused = if state.is_paused { "  PAUSED" } else { "" };
    let taken = width("locktrace top  ") + width(&process) + width(paused);
    let name = fit(&snapshot.name, Some(columns.saturating_sub(taken)));
    let first = Line::from(vec![
        Span::styled("locktrace top  ", look.title()),
        Span::raw(name),
        Span::raw(process),
        Span::styled(paused, look.alarm()),
    ]);
    let phase = text::phase(snapshot, now_unix_ns);
    let filter = match state.filter.as_str() {
        "" => String::new(),
        filter => format!("  only \"{filter}\""),
    };
    let second = fit(&(phase + &filter), Some(columns));
    frame.render_widget(Paragraph::new(vec![first, Line::raw(second)]), area);
}

fn draw_bottom(frame: &mut Frame<'_>, area: Rect, state: &State, look: Look) {
    let line = match &state.view {
        View::Typing => Line::from(vec![
            Span::styled("Only what contains: ", look.title()),
            Span::raw(state.filter.clone()),
            Span::raw("_"),
        ]),
        View::Stacks(_) => keys(
            &[
                ("Esc", "back"),
                ("↑↓", "scroll"),
                ("←→", "others"),
                ("q", "quit"),
            ],
            look,
        ),
        View::Help => keys(&[("any key", "back"), ("q", "quit")], look),
        View::Tables => keys(
            &[
                ("q", "quit"),
                ("?", "help"),
                ("p", "pause"),
                ("Tab", "table"),
                ("↵", "stacks"),
                ("s", "sort"),
                ("/", "filter"),
                ("w", "time"),
            ],
            look,
        ),
    };
    frame.render_widget(line, area);
}

fn keys(keys: &[(&'static str, &'static str)], look: Look) -> Line<'static> {
    let spans = keys.iter().flat_map(|&(key, what)| {
        [
            Span::styled(key, look.title()),
            Span::raw(format!(" {what}  ")),
        ]
    });
    Line::from(spans.collect::<Vec<_>>())
}

/// Lines of a table beside its rows: the title and the head.
const TABLE_LINES: u16 = 2;

fn draw_tables(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &State,
    snapshot: &TopSnapshot,
    look: Look,
) {
    let blocked = state.blocked();
    let rows = u16::try_from(blocked.len()).unwrap_or(u16::MAX).max(1);
    // The lower table has half of the room at least, the upper one what it needs of the other.
    let half = (area.height / 2).max(TABLE_LINES + 1);
    let upper = rows.saturating_add(TABLE_LINES).min(half);
    let notes = u16::try_from(snapshot.incomplete.len())
        .unwrap_or(u16::MAX)
        .min(2);
    let hangs = u16::try_from(snapshot.hangs.len()).unwrap_or(u16::MAX);
    let [hang_lines, upper, _, lower, lines] = Layout::vertical([
        Constraint::Length(hangs),
        Constraint::Length(upper),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(notes),
    ])
    .areas(area);
    let hangs = snapshot.hangs.iter().map(|hang| {
        let line = cut(&format!("HANG: {hang}"), usize::from(hang_lines.width));
        Line::styled(line, look.alarm())
    });
    frame.render_widget(Paragraph::new(hangs.collect::<Vec<_>>()), hang_lines);
    draw_blocked(frame, upper, state, snapshot, &blocked, look);
    draw_table(frame, lower, state, snapshot, look);
    let columns = usize::from(lines.width);
    let incomplete = snapshot.incomplete.iter().map(|line| {
        let line = format!("Incomplete: {line}");
        Line::styled(cut(&line, columns), look.alarm())
    });
    frame.render_widget(Paragraph::new(incomplete.collect::<Vec<_>>()), lines);
}

fn draw_blocked(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &State,
    snapshot: &TopSnapshot,
    blocked: &[&Blocked],
    look: Look,
) {
    let columns = usize::from(area.width);
    let title = text::blocked_title(snapshot);
    let sort = state.blocked_sort;
    let marked = |name, by| marked(name, sort == by);
    let names = columns.saturating_sub(NUMBER + 3 * GAP.len());
    let thread = names / 4;
    let lock = (names - thread) / 2;
    let owners = names - thread - lock;
    let head = format!(
        "{:>NUMBER$}{GAP}{}{GAP}{}{GAP}{}",
        marked("For", BlockedSort::Longest),
        padded(&marked("Thread", BlockedSort::Thread), thread),
        padded("Waits for", lock),
        padded(&marked("Held by", BlockedSort::Root), owners)
    );
    let line = |blocked: &Blocked| {
        let owner = if blocked.end == ChainEnd::Deadlock {
            look.alarm()
        } else {
            look.owner()
        };
        Line::from(vec![
            Span::raw(format!("{:>NUMBER$}", human::duration(blocked.for_ns))),
            Span::raw(GAP),
            Span::styled(padded(&blocked.thread, thread), look.waiting()),
            Span::raw(GAP),
            Span::styled(padded(&blocked.lock, lock), look.lock()),
            Span::raw(GAP),
            Span::styled(padded(&text::owners(blocked, Some(owners)), owners), owner),
        ])
    };
    let lines = Lines {
        pane: Pane::Blocked,
        title,
        head,
        len: blocked.len(),
        nothing: "No thread waits for a lock, or for another thread.",
    };
    draw_lines(frame, area, state, look, &lines, |at| line(blocked[at]));
}

/// Columns of a number.
const NUMBER: usize = 8;
const GAP: &str = "  ";
/// The width from which the method that waits is shown.
const WIDE: usize = 110;

fn draw_table(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &State,
    snapshot: &TopSnapshot,
    look: Look,
) {
    let Some(table) = state.table() else { return };
    let columns = usize::from(area.width);
    let title = text::table_title(table, state.window, snapshot.phase);
    let sort = state.sort;
    let marked = |name, by| marked(name, sort == by);
    let rows = state.rows();
    let parts = if columns >= WIDE { 3 } else { 2 };
    let names = columns.saturating_sub(4 * NUMBER + (3 + parts) * GAP.len());
    let part = names / parts;
    let last = names - (parts - 1) * part;
    let mut head = format!(
        "{:>NUMBER$}{GAP}{:>NUMBER$}{GAP}{:>NUMBER$}{GAP}{:>NUMBER$}{GAP}",
        "Share",
        marked("Blocked", Sort::Blocked),
        marked("Waits", Sort::Waits),
        marked("Longest", Sort::Longest),
    );
    head += &padded(&marked("Lock class", Sort::LockClass), part);
    head += GAP;
    if columns >= WIDE {
        head += &format!(
            "{}{GAP}{}",
            padded("Held by", part),
            padded("Blocked in", last)
        );
    } else {
        head += &padded("Held by", last);
    }
    let line = |row: &Row| {
        let share = human::share(row.sums.blocked_ns, table.total.blocked_ns);
        let numbers = [
            human::percent(share),
            human::duration(row.sums.blocked_ns),
            human::count(row.sums.waits),
            human::duration(row.sums.longest_ns),
        ];
        let numbers = numbers
            .map(|number| format!("{number:>NUMBER$}{GAP}"))
            .concat();
        let mut spans = vec![
            Span::raw(numbers),
            Span::styled(padded(&row.lock_class, part), look.lock()),
            Span::raw(GAP),
        ];
        if columns >= WIDE {
            spans.push(Span::styled(padded(&row.owner, part), look.owner()));
            spans.push(Span::raw(GAP));
            let blocked_in = padded(&blocked_in(row), last);
            spans.push(Span::styled(blocked_in, look.waiting()));
        } else {
            spans.push(Span::styled(padded(&row.owner, last), look.owner()));
        }
        Line::from(spans)
    };
    let lines = Lines {
        pane: Pane::Table,
        title,
        head,
        len: rows.len(),
        nothing: "No thread had to wait for a lock.",
    };
    draw_lines(frame, area, state, look, &lines, |at| line(rows[at]));
}

/// Where most of the time was waited, and in how many other methods.
pub(super) fn blocked_in(row: &Row) -> String {
    let mut methods: Vec<&str> = Vec::new();
    for pair in &row.pairs {
        if !methods.contains(&pair.method.as_str()) {
            methods.push(&pair.method);
        }
    }
    match methods.as_slice() {
        [] => String::new(),
        [only] if row.pairs_omitted == 0 => (*only).to_owned(),
        [first, ..] if row.pairs_omitted > 0 => format!("{first} and more"),
        [first, others @ ..] => format!("{first} +{}", others.len()),
    }
}

/// A table but for its rows.
struct Lines {
    pane: Pane,
    title: String,
    head: String,
    len: usize,
    /// What to say if there are no rows.
    nothing: &'static str,
}

fn draw_lines<'l>(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &State,
    look: Look,
    lines: &Lines,
    row: impl Fn(usize) -> Line<'l>,
) {
    let columns = usize::from(area.width);
    let marker = if state.focus == lines.pane {
        "▸ "
    } else {
        "  "
    };
    let title = cut(&format!("{marker}{}", lines.title), columns);
    let mut shown = vec![Line::styled(title, look.title())];
    if lines.len == 0 {
        let nothing = if state.filter.is_empty() {
            lines.nothing
        } else {
            "Nothing has this text in a name."
        };
        shown.push(Line::raw(format!("  {nothing}")));
        return frame.render_widget(Paragraph::new(shown), area);
    }
    shown.push(Line::styled(lines.head.clone(), look.head()));
    let room = usize::from(area.height.saturating_sub(TABLE_LINES));
    let selected = state.selected(lines.pane);
    let first = (selected + 1).saturating_sub(room);
    for at in (first..lines.len).take(room) {
        let row = row(at);
        let is_selected = at == selected && state.focus == lines.pane;
        shown.push(if is_selected { look.selected(row) } else { row });
    }
    frame.render_widget(Paragraph::new(shown), area);
}

/// The width from which call chains are side by side.
const BESIDE: u16 = 100;

fn draw_stacks(frame: &mut Frame<'_>, area: Rect, details: &Details, look: Look) {
    let [waiter, owner] = match &details.of {
        Subject::Blocked(blocked) => stacks_of_blocked(blocked, details.place),
        Subject::Row(row) => stacks_of_row(row, details.place),
    };
    let halves = [Constraint::Fill(1), Constraint::Fill(1)];
    let [first, second] = if area.width >= BESIDE {
        Layout::horizontal(halves).spacing(2).areas(area)
    } else {
        Layout::vertical(halves).areas(area)
    };
    draw_stack(frame, first, &waiter, details.scroll, look.waiting());
    draw_stack(frame, second, &owner, details.scroll, look.owner());
}

/// A call chain, or the text in its place.
struct StackText {
    title: String,
    lines: Vec<String>,
}

impl StackText {
    fn new(title: String, stack: &Stack) -> Self {
        let frame = |frame: &String| {
            if frame.starts_with('<') {
                frame.clone()
            } else {
                format!("at {frame}")
            }
        };
        Self {
            title,
            lines: stack.iter().map(frame).collect(),
        }
    }

    fn note(title: String, note: &str) -> Self {
        Self {
            title,
            lines: vec![note.to_owned()],
        }
    }
}

fn stacks_of_blocked(blocked: &Blocked, place: usize) -> [StackText; 2] {
    let waiting = format!(
        "{} has waited for {} for {}",
        blocked.thread,
        blocked.lock,
        human::duration(blocked.for_ns)
    );
    let waiter = StackText::new(waiting, &blocked.stack);
    let Some(owner) = blocked.owners.get(place) else {
        if blocked.end == ChainEnd::OtherThread {
            let note = "It is known who ends the wait when it ends.";
            let title = "Waits for another thread".to_owned();
            return [waiter, StackText::note(title, note)];
        }
        let note = "Nobody was seen to have the lock: the owner acquired it without waiting, \
                    before anybody waited, or is being woken.";
        return [
            waiter,
            StackText::note("Held by <not known>".to_owned(), note),
        ];
    };
    let of = format!("{} of {}", place + 1, blocked.owners.len());
    let name = &owner.thread;
    let owner = match &owner.standing {
        Standing::Blocked { lock, stack } => StackText::new(
            format!("{of}: held by {name}, which waits for {lock}"),
            stack,
        ),
        Standing::Acquired(stack) => StackText::new(
            format!("{of}: held by {name}, which acquired it here"),
            stack,
        ),
        Standing::NotKnown => StackText::note(
            format!("{of}: held by {name}"),
            "It did not wait for the lock; its call chain is known when it releases it. \
             The lower table shows who held locks of this class before.",
        ),
    };
    [waiter, owner]
}

fn stacks_of_row(row: &Row, place: usize) -> [StackText; 2] {
    let Some(pair) = row.pairs.get(place) else {
        let note = "There was no room to keep call chains.";
        let titles = [row.lock_class.clone(), row.owner.clone()];
        return titles.map(|title| StackText::note(title, note));
    };
    let Pair {
        stack,
        owner_stack,
        blocked_ns,
        ..
    } = pair;
    let more = if row.pairs_omitted > 0 {
        " and more"
    } else {
        ""
    };
    let of = format!("{} of {}{more}", place + 1, row.pairs.len());
    let waiting = format!(
        "{of}: {} blocked for {}",
        human::duration(*blocked_ns),
        row.lock_class
    );
    let waiter = StackText::new(waiting, stack);
    let owner = match owner_stack {
        Some(stack) => StackText::new(format!("while held by {}", row.owner), stack),
        None => StackText::note(row.owner.clone(), "No call chain is known of an owner."),
    };
    [waiter, owner]
}

fn draw_stack(frame: &mut Frame<'_>, area: Rect, text: &StackText, scroll: usize, style: Style) {
    let columns = usize::from(area.width);
    let [title, frames] =
        Layout::vertical([Constraint::Length(2), Constraint::Fill(1)]).areas(area);
    let bold = style.add_modifier(Modifier::BOLD);
    let heading = Paragraph::new(text.title.as_str()).style(bold);
    frame.render_widget(heading.wrap(Wrap { trim: true }), title);
    if let [note] = text.lines.as_slice() {
        let note = Paragraph::new(note.as_str()).wrap(Wrap { trim: true });
        return frame.render_widget(note, frames);
    }
    // The outermost frames can be reached, and something stays to be seen.
    let scroll = scroll.min(text.lines.len().saturating_sub(usize::from(frames.height)));
    let lines = text.lines.iter().skip(scroll);
    let lines = lines.map(|line| Line::raw(fit(line, Some(columns))));
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), frames);
}

/// The name of a column, which says whether the rows are sorted by it.
fn marked(name: &str, is_sorted_by: bool) -> String {
    let mark = if is_sorted_by { "▾" } else { "" };
    format!("{name}{mark}")
}

/// Returns a name in exactly this number of columns.
fn padded(name: &str, columns: usize) -> String {
    let name = fit(name, Some(columns));
    let missing = columns.saturating_sub(width(&name));
    name + &" ".repeat(missing)
}

/// The beginning of a sentence.
fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        kept.push(character);
        if width(&kept) + 1 > columns {
            kept.pop();
            break;
        }
    }
    kept + "…"
}
