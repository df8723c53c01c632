//! The waits in `Object.wait` and the notifications in a trace: `locktrace dump`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::locktrace::dump;

/// What a trace says of `Object.wait`.
#[derive(Debug, Default)]
pub struct WaitLog {
    /// The notifications, by domain and number.
    pub notifications: BTreeMap<(u64, u64), Notification>,
    /// The ends of waits of each thread, in order.
    pub ends: BTreeMap<String, Vec<WaitEnding>>,
}

/// `Object.notify` or `Object.notifyAll`.
#[derive(Clone, Debug)]
pub struct Notification {
    /// Name of the thread.
    pub thread: String,
    /// How many threads waited.
    pub waiters: u64,
    /// It takes all of them.
    pub all: bool,
}

/// How a wait ended.
#[derive(Clone, Debug)]
pub struct WaitEnding {
    /// The reason, as `dump` calls it.
    pub reason: String,
    /// Domain and number of the notification.
    pub notification: Option<(u64, u64)>,
}

#[derive(Debug, Deserialize)]
struct Line {
    thread: u32,
    buffer: u64,
    #[serde(flatten)]
    event: Event,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "event")]
enum Event {
    ThreadStart {
        name: String,
    },
    ParkEnd {
        domain: u64,
        sequence: u64,
        reason: String,
        permit: u64,
        monitor: bool,
    },
    Unpark {
        domain: u64,
        sequence: u64,
        target: u64,
        waiters: u64,
    },
    #[serde(other)]
    Other,
}

impl WaitLog {
    /// Reads a trace that could be read as a whole, with fewer than 2³² events.
    pub fn read(trace: &Path) -> Self {
        let mut lines: Vec<Line> = dump(trace);
        // The buffers of a thread are numbered, and a file holds them in any order.
        lines.sort_by_key(|line| (line.thread, line.buffer));
        let names: BTreeMap<u32, &String> = (lines.iter())
            .filter_map(|line| match &line.event {
                Event::ThreadStart { name } => Some((line.thread, name)),
                _ => None,
            })
            .collect();
        let mut log = Self::default();
        for line in &lines {
            let name = || names[&line.thread].clone();
            match line.event {
                Event::Unpark {
                    domain,
                    sequence,
                    target,
                    waiters,
                } if waiters > 0 => {
                    let notification = Notification {
                        thread: name(),
                        waiters,
                        all: target == 0,
                    };
                    log.notifications.insert((domain, sequence), notification);
                }
                Event::ParkEnd {
                    domain,
                    sequence,
                    ref reason,
                    permit,
                    monitor: true,
                } => {
                    assert!(permit < sequence, "a notification comes before the end");
                    log.ends.entry(name()).or_default().push(WaitEnding {
                        reason: reason.clone(),
                        notification: (permit != 0).then_some((domain, permit)),
                    });
                }
                _ => {}
            }
        }
        log
    }
}
