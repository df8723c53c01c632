//! Events that outlive the chunk that they were decoded from.

use trace_format::{ClassDescription, Event, MethodDescription, ThreadRename, ThreadStart};

/// An event with its text.
#[derive(Clone, Debug)]
pub(crate) enum OwnedEvent {
    WithoutText(Event<'static>),
    WithText(Box<WithText>),
}

#[derive(Clone, Debug)]
pub(crate) struct WithText {
    /// Its texts are empty.
    event: Event<'static>,
    texts: [Box<str>; MAX_TEXTS],
}

/// No event has more texts.
const MAX_TEXTS: usize = 3;

impl OwnedEvent {
    #[inline(always)]
    pub(crate) fn new(event: &Event<'_>) -> Self {
        match event {
            Event::ThreadStart(start) => Self::with_text(event, [start.name, "", ""]),
            Event::ThreadRename(rename) => Self::with_text(event, [rename.name, "", ""]),
            Event::Class(class) => {
                let texts = [class.name, class.source_file, class.loader_class];
                Self::with_text(event, texts)
            }
            Event::Method(method) => Self::with_text(event, [method.name, method.signature, ""]),
            _ => Self::WithoutText(replace_texts(event, [""; MAX_TEXTS])),
        }
    }

    #[cold]
    fn with_text(event: &Event<'_>, texts: [&str; MAX_TEXTS]) -> Self {
        Self::WithText(Box::new(WithText {
            event: replace_texts(event, [""; MAX_TEXTS]),
            texts: texts.map(Box::from),
        }))
    }

    /// Passes the event to `take`.
    #[inline]
    pub(crate) fn pass_to(&self, take: impl FnOnce(&Event<'_>)) {
        match self {
            Self::WithoutText(event) => take(event),
            Self::WithText(owned) => {
                let [first, second, third] = &owned.texts;
                take(&replace_texts(&owned.event, [first, second, third]));
            }
        }
    }
}

/// The same event, but with these texts in the order of its fields.
#[inline(always)]
fn replace_texts<'t>(event: &Event<'_>, [first, second, third]: [&'t str; MAX_TEXTS]) -> Event<'t> {
    match event {
        Event::LockDescription(event) => Event::LockDescription(*event),
        Event::ContendedEnter(event) => Event::ContendedEnter(*event),
        Event::ContendedEntered(event) => Event::ContendedEntered(*event),
        Event::ContendedExit(event) => Event::ContendedExit(*event),
        Event::LockRetired(event) => Event::LockRetired(*event),
        Event::ForwardResolved(event) => Event::ForwardResolved(*event),
        Event::ThreadEnd(event) => Event::ThreadEnd(*event),
        Event::LostNumbers(event) => Event::LostNumbers(*event),
        Event::LostEvents(event) => Event::LostEvents(*event),
        Event::ParkBegin(event) => Event::ParkBegin(*event),
        Event::ParkEnd(event) => Event::ParkEnd(*event),
        Event::Unpark(event) => Event::Unpark(*event),
        Event::ExclusiveRelease(event) => Event::ExclusiveRelease(*event),
        Event::OwnerSample(event) => Event::OwnerSample(*event),
        Event::LockSite(event) => Event::LockSite(*event),
        Event::Chain(event) => Event::Chain(event.clone()),
        Event::LoaderUnload(event) => Event::LoaderUnload(*event),
        Event::ChainRetired(event) => Event::ChainRetired(*event),
        Event::MethodRetired(event) => Event::MethodRetired(*event),
        &Event::ThreadStart(ThreadStart {
            time_ns,
            java_id,
            name: _,
            stack,
        }) => Event::ThreadStart(ThreadStart {
            time_ns,
            java_id,
            name: first,
            stack,
        }),
        &Event::ThreadRename(ThreadRename { java_id, name: _ }) => {
            Event::ThreadRename(ThreadRename {
                java_id,
                name: first,
            })
        }
        &Event::Class(ClassDescription {
            class,
            super_class,
            loader,
            name: _,
            source_file: _,
            loader_class: _,
        }) => Event::Class(ClassDescription {
            class,
            super_class,
            loader,
            name: first,
            source_file: second,
            loader_class: third,
        }),
        &Event::Method(MethodDescription {
            method,
            class,
            name: _,
            signature: _,
        }) => Event::Method(MethodDescription {
            method,
            class,
            name: first,
            signature: second,
        }),
    }
}

#[cfg(test)]
mod tests {
    use trace_format::{ClassId, JavaThreadId, LockId, LockRetired, MethodId};

    use super::*;

    #[test]
    fn an_event_is_the_same_with_its_text() {
        let events = [
            Event::ThreadStart(ThreadStart {
                time_ns: 1,
                java_id: JavaThreadId(2),
                name: "main",
                stack: trace_format::StackRange::default(),
            }),
            Event::ThreadRename(ThreadRename {
                java_id: JavaThreadId(2),
                name: "worker",
            }),
            Event::Class(ClassDescription {
                class: ClassId(3),
                super_class: ClassId(4),
                loader: trace_format::LoaderId::default(),
                name: "A",
                source_file: "A.java",
                loader_class: "Loader",
            }),
            Event::Method(MethodDescription {
                method: MethodId(5),
                class: ClassId(3),
                name: "run",
                signature: "()V",
            }),
            Event::LockRetired(LockRetired {
                lock: LockId(6),
                sequence: 7,
            }),
        ];
        for event in events {
            OwnedEvent::new(&event).pass_to(|same| assert_eq!(*same, event));
        }
    }
}
