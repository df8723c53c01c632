//! The releases of a method that can call a hook.

use crate::class_file::{ClassFile, Method};
use crate::code::{Code, Handler, MonitorExit};
use crate::frames::Facts;
use crate::instruction::{Kind, decode};
use crate::outcome::{LeftAlone, Reason};

/// The changes of a method.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) method: Method<'a>,
    pub(crate) code: Code<'a>,
    /// In order of their positions.
    pub(crate) sites: Vec<PlannedSite>,
    /// The code to append, in order.
    pub(crate) stubs: Vec<(ReleaseStub, StubFrame)>,
    /// In order of their positions.
    pub(crate) release_handlers: Vec<ReleaseHandler>,
    pub(crate) facts: Facts<'a>,
    /// The method is synchronized, and its own release calls a hook: also where an exception
    /// leaves it.
    pub(crate) unwinds: bool,
}

/// A release that is to call a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedSite {
    pub(crate) pc: usize,
    pub(crate) release: Release,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// A `monitorexit`. Throwables of the hook go to the stub.
    Block(ReleaseStub),
    /// A return from a synchronized method.
    Return,
}

/// Code to be appended that releases the monitor of the object in a local variable and rethrows, as
/// a handler of the method does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReleaseStub {
    pub(crate) handler: ReleaseHandler,
    pub(crate) local: u16,
}

/// The local variables in a stub's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StubFrame {
    /// Only the objects that are needed.
    Needed,
    /// The same as in the handler's frame.
    OfHandler,
}

/// A handler that releases a monitor and rethrows: compilers write one for each synchronized block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReleaseHandler {
    pub(crate) pc: usize,
    /// Its `athrow`, which ends it.
    pub(crate) throw: usize,
    /// The local variable from which it loads the object.
    local: u16,
    /// It stores something before the release.
    stores: bool,
}

impl PlannedSite {
    /// Returns the target of the hook's throwables, before a `monitorexit`.
    pub(crate) fn stub(&self) -> Option<ReleaseStub> {
        match self.release {
            Release::Block(stub) => Some(stub),
            Release::Return => None,
        }
    }
}

/// Limit of the work on one method, in releases times handlers: more means a class made to take
/// time.
const MAX_WORK: usize = 1 << 22;

impl<'a> Plan<'a> {
    /// Plans the changes of a method, if any is possible. The impossible ones are in `left_alone`.
    pub(crate) fn of(
        class: &ClassFile<'a>,
        method: Method<'a>,
        left_alone: &mut Vec<LeftAlone<'a>>,
    ) -> Option<Self> {
        let mut leave = |blocks, is_method, reason| {
            if blocks > 0 || is_method || reason == Reason::MalformedCode {
                left_alone.push(method.left_alone(blocks, is_method, reason));
            }
        };
        if method.is_synchronized && method.is_native {
            leave(0, true, Reason::Native);
        }
        let attribute = method.code?;
        let code = match Code::read(attribute.bytes, class) {
            Ok(code) => code,
            Err(reason) => {
                leave(0, method.is_synchronized, reason);
                return None;
            }
        };
        let blocks = code.monitor_exits.len();
        let mut plan = Self {
            method,
            code,
            sites: Vec::new(),
            stubs: Vec::new(),
            release_handlers: Vec::new(),
            facts: Facts::default(),
            unwinds: false,
        };
        if blocks == 0 && !method.is_synchronized {
            return None;
        }
        if let Err(reason) = plan.read(class) {
            leave(blocks, method.is_synchronized, reason);
            return None;
        }
        if method.is_synchronized {
            match plan.obstacle_to_method_exits(class) {
                Some(reason) => leave(0, true, reason),
                None => plan.unwinds = true,
            }
        }
        plan.add_blocks(class);
        leave(blocks - plan.sites.len(), false, Reason::Unprotected);
        if plan.unwinds {
            plan.add_returns();
        }
        (!plan.sites.is_empty() || plan.unwinds).then_some(plan)
    }

    /// Returns the number of its sites.
    pub(crate) fn site_count(&self) -> usize {
        self.sites.len() + usize::from(self.unwinds)
    }

    /// Returns all its releases as left alone.
    pub(crate) fn left_alone(&self, reason: Reason) -> LeftAlone<'a> {
        let blocks = self.sites.iter().filter_map(PlannedSite::stub).count();
        self.method.left_alone(blocks, self.unwinds, reason)
    }

    /// Returns the local variable with `this`, if unwinding the method needs it.
    pub(crate) fn this_in_unwinding(&self) -> Option<u16> {
        (self.unwinds && !self.method.is_static).then_some(0)
    }

    pub(crate) fn is_release_handler(&self, pc: usize) -> bool {
        let handlers = &self.release_handlers;
        handlers
            .binary_search_by_key(&pc, |handler| handler.pc)
            .is_ok()
    }

    /// Finds the handlers that release monitors, and their frames.
    fn read(&mut self, class: &ClassFile<'a>) -> Result<(), Reason> {
        let code = &self.code;
        if let Some(reason) = code.obstacle {
            return Err(reason);
        }
        let releases = code.monitor_exits.len() + code.returns.len();
        if releases.saturating_mul(code.handlers.len()) > MAX_WORK {
            return Err(Reason::TooLarge);
        }
        let catch_all = code.handlers.iter().filter(|handler| handler.catches_all());
        let mut positions: Vec<_> = catch_all.map(|handler| handler.handler).collect();
        positions.sort_unstable();
        positions.dedup();
        self.release_handlers = positions
            .iter()
            .filter_map(|&pc| ReleaseHandler::at(code, pc))
            .collect();
        let wanted: Vec<_> = self
            .release_handlers
            .iter()
            .map(|handler| handler.pc)
            .collect();
        self.facts = Facts::read(class, &self.method, code, &wanted)?;
        Ok(())
    }

    fn add_blocks(&mut self, class: &ClassFile<'a>) {
        for exit in &self.code.monitor_exits {
            let Some(stub) = self.stub_of(exit) else {
                continue;
            };
            if let Some(frame) = self.stub_frame(class, exit, &stub) {
                self.sites.push(PlannedSite {
                    pc: exit.pc,
                    release: Release::Block(stub),
                });
                self.stubs.push((stub, frame));
            }
        }
        self.stubs.sort_unstable_by_key(|&(stub, _)| stub);
        self.stubs.dedup_by_key(|&mut (stub, _)| stub);
    }

    /// Returns the stub that releases the monitor in place of a `monitorexit`, if the hook throws
    /// something.
    fn stub_of(&self, exit: &MonitorExit) -> Option<ReleaseStub> {
        let loaded = exit.loaded?;
        let local = loaded.local;
        let is_of_local = |handler: &ReleaseHandler| handler.local == local;
        let around = self.release_handler_around(exit.pc);
        // Javac ends the range of the handler there.
        let ends_behind = |handler: &&Handler| handler.end == exit.pc + 1;
        // Compilers of Scala do, and old ones of Java. A range that covers the release may belong
        // to an enclosing block.
        let ends_before = |handler: &&Handler| [loaded.pc, exit.pc].contains(&handler.end);
        let covers = |handler: &&Handler| handler.covers(exit.pc);
        let handler = around.or_else(|| self.first_release(ends_behind));
        let handler = handler.or_else(|| self.first_release(ends_before).filter(is_of_local));
        let handler = handler.or_else(|| self.first_release(covers).filter(is_of_local));
        handler.map(|handler| ReleaseStub { handler, local })
    }

    /// Returns the frame of a stub, `None` if none is known that holds wherever it is entered.
    fn stub_frame(
        &self,
        class: &ClassFile<'a>,
        exit: &MonitorExit,
        stub: &ReleaseStub,
    ) -> Option<StubFrame> {
        let handler = stub.handler;
        // Before version 50 there are no frames. Later, a method without any is not verified by
        // them: in version 50 the old verifier takes it, and of classes that it does not verify a
        // JVM before 21 forgets them (JDK-8228604), as of the boot loader's. A verified method
        // with a handler has at least the handler's.
        if class.major_version < 50 || self.code.frames().is_none() {
            return Some(StubFrame::Needed);
        }
        let frame = self.facts.handler(handler.pc)?;
        if self.outer_handlers(&handler).next().is_none() && !frame.is_before_super() {
            return Some(StubFrame::Needed);
        }
        // Enclosing handlers need more. The frame of the handler holds in its range, and in itself.
        let mut handlers = self.code.handlers.iter();
        let is_in_charge = |other: &Handler| other.handler == handler.pc && other.covers(exit.pc);
        let holds = handlers.any(is_in_charge) || handler.keeps_locals_before(exit.pc);
        (holds && frame.has_object(stub.local)).then_some(StubFrame::OfHandler)
    }

    /// Returns the handlers of the throwables that a handler which releases a monitor rethrows.
    pub(crate) fn outer_handlers(&self, inner: &ReleaseHandler) -> impl Iterator<Item = &Handler> {
        let (pc, throw) = (inner.pc, inner.throw);
        let handlers = self.code.handlers.iter();
        let mut handlers = handlers.filter(move |h| h.covers(throw) && h.handler != pc);
        let mut is_caught = false;
        std::iter::from_fn(move || {
            let handler = handlers.next().filter(|_| !is_caught)?;
            is_caught = handler.catches_all();
            Some(handler)
        })
    }

    /// Returns the handler that releases a monitor and contains an instruction.
    fn release_handler_around(&self, pc: usize) -> Option<ReleaseHandler> {
        let handlers = &self.release_handlers;
        let after = handlers.partition_point(|handler| handler.pc <= pc);
        let handler = handlers.get(after.checked_sub(1)?)?;
        (pc <= handler.throw).then_some(*handler)
    }

    /// Returns the first wanted handler among those for everything, if it releases a monitor.
    fn first_release(&self, is_wanted: impl Fn(&&Handler) -> bool) -> Option<ReleaseHandler> {
        let handlers = self.code.handlers.iter();
        let mut handlers = handlers.filter(|handler| handler.catches_all());
        let pc = handlers.find(is_wanted)?.handler;
        let index = self
            .release_handlers
            .binary_search_by_key(&pc, |handler| handler.pc);
        self.release_handlers.get(index.ok()?).copied()
    }

    fn obstacle_to_method_exits(&self, class: &ClassFile<'a>) -> Option<Reason> {
        if self.method.is_static {
            (class.major_version < 49).then_some(Reason::NoClassLiterals)
        } else {
            let is_overwritten = self.code.stores_to_local_0 || !self.facts.has_object_in_local_0;
            is_overwritten.then_some(Reason::ThisOverwritten)
        }
    }

    fn add_returns(&mut self) {
        let returns = self.code.returns.iter().map(|&pc| PlannedSite {
            pc,
            release: Release::Return,
        });
        self.sites.extend(returns);
        self.sites.sort_unstable_by_key(|site| site.pc);
    }
}

impl<'a> Method<'a> {
    pub(crate) fn left_alone(&self, blocks: usize, method: bool, reason: Reason) -> LeftAlone<'a> {
        LeftAlone {
            name: self.name,
            descriptor: self.descriptor,
            blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
            method,
            reason,
        }
    }
}

impl ReleaseHandler {
    /// Returns whether the instruction is in it, and local variables are as at its begin.
    fn keeps_locals_before(&self, pc: usize) -> bool {
        (self.pc..=self.throw).contains(&pc) && !self.stores
    }

    /// Returns the handler at `pc`, if it does nothing but move values, release one monitor, and
    /// throw.
    fn at(code: &Code<'_>, pc: usize) -> Option<Self> {
        /// Compilers need five, coverage tools a few more.
        const MAX_INSTRUCTIONS: usize = 24;
        let mut at = pc;
        let mut loaded = None;
        let mut released = None;
        let mut stores = false;
        for _ in 0..MAX_INSTRUCTIONS {
            let instruction = decode(code.bytes, at).ok()?;
            match instruction.kind {
                Kind::Move => loaded = None,
                Kind::Store(_) => {
                    loaded = None;
                    stores |= released.is_none();
                }
                Kind::LoadReference(local) => loaded = Some(local),
                Kind::MonitorExit if released.is_none() => released = Some(loaded?),
                Kind::Throw => {
                    let local = released?;
                    let throw = at;
                    return Some(Self {
                        pc,
                        throw,
                        local,
                        stores,
                    });
                }
                _ => return None,
            }
            at += instruction.len;
        }
        None
    }
}
