//! A hang in words: what is seen, what that is concluded from, and what helps.

use trace_analysis::{
    ChainIndex, Entities, Frame, Hang, Mechanism, Method, OpenWait, Resource, ThreadIndex, Verdict,
    WaitKind,
};

use crate::human::{self, plural};
use crate::name::printable;

/// The most names in a sentence.
const NAMES: usize = 4;

/// A hang, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HangWords {
    /// The problem, in one sentence without its end.
    pub title: String,
    /// What that is concluded from, and what is not known; empty if there is no doubt.
    pub basis: String,
    /// The usual remedy.
    pub advice: &'static str,
}

impl HangWords {
    /// Puts a hang into words.
    pub fn new(hang: &Hang, entities: &Entities) -> Self {
        let words = Words { hang, entities };
        Self {
            title: words.title(),
            basis: words.basis(),
            advice: words.advice(),
        }
    }
}

/// Returns the position in words of the code of a thread that waits, as in a stack trace.
pub(crate) fn place(wait: &OpenWait, entities: &Entities) -> String {
    let frames = entities.frames_from_code(wait.chain, entities.lock_class(wait.lock));
    match frames.first() {
        Some(frame) => printable(&entities.frame_label(frame)),
        None => entities.chain_label(wait.chain, 0),
    }
}

/// Returns name and number of a thread that has a lock, and whether it has ended.
pub(crate) fn holder(wait: &OpenWait, entities: &Entities) -> Option<String> {
    let (thread, _) = wait.holder?;
    let ended = match wait.holder_facts.ended_ns {
        Some(_) => " (ended)",
        None => "",
    };
    Some(format!("{}{ended}", name(thread, entities)))
}

/// Returns name and number of a thread.
pub(crate) fn name(thread: ThreadIndex, entities: &Entities) -> String {
    let thread = entities.thread(thread);
    format!("\"{}\" #{}", printable(&thread.name), thread.java_id)
}

struct Words<'a> {
    hang: &'a Hang,
    entities: &'a Entities,
}

impl Words<'_> {
    fn title(&self) -> String {
        let hang = self.hang;
        let first = hang.first();
        let lock = printable(&self.entities.lock_label(first.lock));
        let holder = holder(first, self.entities);
        let stalled = human::duration(hang.stalled_ns());
        let waiting = self.waiting();
        match hang.verdict {
            Verdict::NeverReleased => {
                let holder = holder.unwrap_or_default();
                let how = match hang.holder_wait {
                    Some(_) => "waits for its next task and still has",
                    None => "still has",
                };
                format!("Never released: {holder} {how} {lock}; {waiting}")
            }
            Verdict::PossibleDeadlock => self.possible_deadlock(),
            Verdict::NoPermit => {
                format!("No permit of {lock} was released in the last {stalled}; {waiting}")
            }
            Verdict::StillHeld => {
                let holder = match (holder, first.resource) {
                    (Some(holder), _) => format!("{holder} has had {lock} for {stalled} at least"),
                    (None, Resource::ReadWriteLock { .. }) => {
                        format!("nobody has released {lock} for {stalled}, so readers may have it")
                    }
                    (None, Resource::StampedLock { .. }) => format!(
                        "nobody has released {lock} for {stalled}, so readers or a writer may have it"
                    ),
                    (None, _) => format!("nobody has released {lock} for {stalled}"),
                };
                format!("Still held: {holder}; {waiting}")
            }
            Verdict::Starved => format!(
                "Starved: {} has waited {} for {lock}, which was released {} meanwhile",
                name(first.thread, self.entities),
                human::duration(first.duration_ns),
                plural(first.releases, "time"),
            ),
        }
    }

    fn possible_deadlock(&self) -> String {
        let hang = self.hang;
        let first = hang.first();
        // Of readers it is not known who they are: one of those that wait for them has another lock.
        let (holder, held) = match (holder(first, self.entities), hang.behind.first()) {
            (Some(holder), _) => (holder, first),
            (None, behind) => (name(first.thread, self.entities), behind.unwrap_or(first)),
        };
        let (awaited, place) = match (&hang.holder_wait, first.holder_facts.seen) {
            (Some(wait), _) => {
                let place = match wait.kind {
                    WaitKind::Join => outside_of_jdk(wait.chain, self.entities),
                    _ => place(wait, self.entities),
                };
                (awaited(wait, self.entities).to_owned(), place)
            }
            (None, Some((_, chain))) if first.holder.is_some() => {
                let awaited = "a notification, or the end of a thread".to_owned();
                (awaited, outside_of_jdk(chain, self.entities))
            }
            (None, _) => {
                let lock = self.lock(first);
                let owners = match first.resource {
                    Resource::StampedLock { .. } => format!("those who have {lock}"),
                    _ => format!("those who have {lock} for reading"),
                };
                (owners, place(first, self.entities))
            }
        };
        let waiting = match first.holder {
            Some(_) => self.waiting(),
            None => wait_for_it(hang.behind.len()),
        };
        let lock = self.lock(held);
        format!(
            "Possible deadlock: {holder} has {lock} and itself waits for {awaited} at {place}; {waiting}"
        )
    }

    /// Who waits, and how long in all.
    fn waiting(&self) -> String {
        let hang = self.hang;
        let mut text = wait_for_it(hang.waiting.len());
        match hang.behind.len() {
            0 => {}
            1 => text += ", and 1 waits behind them",
            behind => text += &format!(", and {behind} wait behind them"),
        }
        let all_ns = hang.threads().map(|wait| wait.duration_ns);
        let all_ns = all_ns.fold(0, u64::saturating_add);
        text + &format!(", {} in all", human::duration(all_ns))
    }

    fn basis(&self) -> String {
        let hang = self.hang;
        let first = hang.first();
        match hang.verdict {
            Verdict::NeverReleased => match first.holder_facts.ended_ns {
                Some(ended_ns) => format!(
                    "The thread ended {} after the trace began, without releasing the lock.",
                    human::duration(ended_ns)
                ),
                None => String::new(),
            },
            Verdict::PossibleDeadlock => {
                let others: Vec<&OpenWait> = match first.holder {
                    Some(_) => hang.threads().collect(),
                    None => hang.behind.iter().collect(),
                };
                let made = self.made_by_holder().unwrap_or_default();
                let others = self.names(others.into_iter());
                format!(
                    "The trace does not show who is to end that wait. If it is {others}, none of them can go on.{made}"
                )
            }
            Verdict::NoPermit | Verdict::StillHeld => {
                let before = match first.turnover.longest_hold_ns {
                    0 => "The trace has no earlier release while threads waited.".to_owned(),
                    longest_ns => format!(
                        "Before, threads waited {} at most for a release.",
                        human::duration(longest_ns)
                    ),
                };
                before + &self.waits_for_itself().unwrap_or_default()
            }
            Verdict::Starved => match first.turnover.longest_wait_ns {
                0 => "No other wait for it ended.".to_owned(),
                longest_ns => format!(
                    "The longest other wait for it took {}.",
                    human::duration(longest_ns)
                ),
            },
        }
    }

    /// Says which threads may have what they wait for.
    fn waits_for_itself(&self) -> Option<String> {
        let hang = self.hang;
        let first = hang.first();
        let unknown = match (first.holder, first.resource) {
            (None, Resource::ReadWriteLock { .. }) => "The trace does not show who reads.",
            (None, Resource::StampedLock { .. }) => "A StampedLock does not know who has it.",
            _ => return None,
        };
        // A reader may acquire a ReentrantReadWriteLock again for reading, and nobody a StampedLock.
        let may_have_it =
            |wait: &&OpenWait| wait.resource != Resource::ReadWriteLock { shared: true };
        let mut waiting = hang.waiting.iter().filter(may_have_it).peekable();
        waiting.peek()?;
        let names = self.names(waiting);
        Some(format!(" {unknown} If {names} does, it waits for itself."))
    }

    /// Says which thread runs code that was made where the holder waits: a lambda of a method on its stack.
    fn made_by_holder(&self) -> Option<String> {
        let entities = self.entities;
        let own = entities.chain(self.hang.holder_wait?.chain).frames();
        let method = |frame: &Frame| entities.method(frame.method);
        let is_made = |lambda: &Method| {
            let maker = lambda.name.strip_prefix("lambda$")?;
            let (maker, _) = maker.rsplit_once('$')?;
            let mut own = own.iter().map(method);
            own.find(|own| own.class == lambda.class && &*own.name == maker)
        };
        self.hang.threads().find_map(|wait| {
            let mut frames = entities.chain(wait.chain).frames().iter();
            let lambda = frames.find(|frame| is_made(method(frame)).is_some())?;
            let maker = is_made(method(lambda))?;
            Some(format!(
                " {} runs {}, a lambda of {}.",
                name(wait.thread, entities),
                printable(&entities.method_label(lambda.method)),
                printable(&maker.name),
            ))
        })
    }

    fn advice(&self) -> &'static str {
        let first = self.hang.first();
        match self.hang.verdict {
            Verdict::NeverReleased => {
                "Release the lock in a finally block: the thread left the code without unlock(), \
                 perhaps by an exception."
            }
            Verdict::PossibleDeadlock if first.holder.is_none() => {
                "Acquire the locks in the same order everywhere, for reading too."
            }
            Verdict::PossibleDeadlock => {
                "Do not wait for another thread while holding a lock that it may need: wait after the \
                 release, or with a time limit."
            }
            Verdict::NoPermit => {
                "Give permits back in a finally block, also where a request fails: a permit that is \
                 not given back is lost."
            }
            Verdict::StillHeld => match (first.resource, first.holder) {
                (Resource::ReadWriteLock { .. }, None) => {
                    "See which reader does not come to its unlock(), or keeps the lock for long. A read \
                     lock cannot be upgraded: release it before you acquire the write lock."
                }
                (Resource::StampedLock { .. }, None) => {
                    "See which reader or writer does not come to its unlock, or keeps the lock for long. A StampedLock is not \
                     reentrant: a thread that has it must release it before it acquires it again, or convert its \
                     stamp with tryConvertToWriteLock."
                }
                _ => {
                    "See what the owner waits for or does, and whether each path from lock() leads to \
                     unlock()."
                }
            },
            Verdict::Starved => {
                "Use a fair lock, or let those that acquire it again and again pause in between."
            }
        }
    }

    fn names<'w>(&self, waits: impl Iterator<Item = &'w OpenWait>) -> String {
        let names: Vec<String> = waits.map(|wait| name(wait.thread, self.entities)).collect();
        match names.as_slice() {
            [] => "one of those that wait".to_owned(),
            [only] => only.clone(),
            names if names.len() <= NAMES => {
                let (last, others) = names.split_last().expect("two at least");
                format!("{} or {last}", others.join(", "))
            }
            names => format!(
                "{} or one of {} others",
                names[..NAMES].join(", "),
                names.len() - NAMES
            ),
        }
    }

    fn lock(&self, wait: &OpenWait) -> String {
        printable(&self.entities.lock_label(wait.lock))
    }
}

fn wait_for_it(threads: usize) -> String {
    match threads {
        1 => "1 thread waits for it".to_owned(),
        more => format!("{} wait for it", plural(more as u64, "thread")),
    }
}

/// Returns what a thread waits for that waits for no lock.
pub(crate) fn awaited(wait: &OpenWait, entities: &Entities) -> &'static str {
    const NAMES: [(&str, &str); 7] = [
        ("FutureTask", "a future"),
        ("CompletableFuture", "a future"),
        ("CountDownLatch", "a latch"),
        ("ConditionObject", "a condition"),
        ("Phaser", "a phaser"),
        ("Queue", "a queue"),
        ("Semaphore", "a permit"),
    ];
    match (wait.mechanism, wait.kind) {
        (_, WaitKind::Join) => return "the end of a thread or process",
        (Mechanism::Monitor, _) => return "a notification",
        (Mechanism::Park, _) => {}
    }
    let class = entities.lock_class(wait.lock);
    let class = class.map_or("", |class| entities.class_name(class));
    let known = NAMES.into_iter().find(|(part, _)| class.contains(part));
    known.map_or("another thread", |(_, name)| name)
}

/// Returns the innermost frame that is not the JDK's, as in a stack trace.
fn outside_of_jdk(chain: ChainIndex, entities: &Entities) -> String {
    let frame = entities.frame_outside_of_jdk(chain);
    frame.map_or_else(String::new, |frame| printable(&entities.frame_label(frame)))
}
