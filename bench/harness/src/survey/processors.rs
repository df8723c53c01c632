//! The processors that JVMs run on. What a thread starts runs where the thread may run itself.

use std::{panic, thread};

use anyhow::{Context, ensure};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Returns the processors that this thread may use.
pub(crate) fn allowed() -> anyhow::Result<Vec<usize>> {
    let set = sched_getaffinity(None).context("asking for the processors of this process")?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .collect())
}

/// Lets this thread, and what it starts from now on, use the first `count` of its processors only; returns them.
pub(crate) fn restrict(count: Option<usize>) -> anyhow::Result<Vec<usize>> {
    let mut processors = allowed()?;
    if let Some(count) = count {
        ensure!(
            (1..=processors.len()).contains(&count),
            "--processors: expected a number from 1 to {}, found {count}",
            processors.len()
        );
        processors.truncate(count);
        place(&processors)?;
    }
    Ok(processors)
}

/// Does some work, and what it starts, on some processors only. Panics if this thread may not use them.
pub(crate) fn on<T: Send>(processors: &[usize], work: impl FnOnce() -> T + Send) -> T {
    let placed = || {
        place(processors).unwrap_or_else(|error| panic!("{error:#}"));
        work()
    };
    // In a thread of its own, so that this one stays where it is.
    let ended = thread::scope(|scope| scope.spawn(placed).join());
    ended.unwrap_or_else(|panic| panic::resume_unwind(panic))
}

fn place(processors: &[usize]) -> anyhow::Result<()> {
    let mut set = CpuSet::new();
    processors.iter().for_each(|&cpu| set.set(cpu));
    sched_setaffinity(None, &set).with_context(|| format!("using processors {processors:?} only"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_placed_and_what_it_starts_too() {
        let all = allowed().expect("this thread runs somewhere");
        let last = &all[all.len() - 1..];
        let inherited = on(last, || thread::spawn(allowed).join());
        let inherited = inherited.expect("no panic").expect("it runs somewhere");
        assert_eq!(inherited, last);
        assert_eq!(allowed().expect("as before"), all);
    }

    #[test]
    fn more_processors_than_there_are_cannot_be_used() {
        let all = allowed().expect("this thread runs somewhere").len();
        assert!(restrict(Some(all + 1)).is_err());
        assert!(restrict(Some(0)).is_err());
    }
}
