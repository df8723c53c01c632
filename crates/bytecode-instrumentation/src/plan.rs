//! The releases of a method that can call a hook.

use std::collections::{HashMap, HashSet};

use crate::class_file::{ClassFile, Method};
use crate::code::{Catch, Code};
use crate::flow::Flow;
use crate::frames::{Facts, HandlerFrame, frames_before_super};
use crate::instruction::Kind;
use crate::outcome::{LeftAlone, Reason};

/// The changes of a method.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) method: Method<'a>,
    pub(crate) code: Code<'a>,
    /// In order of their positions.
    pub(crate) sites: Vec<PlannedSite>,
    /// The code to append, in order.
    pub(crate) stubs: Vec<ReleaseStub<'a>>,
    /// `None` if the method has no blocks, or their monitors cannot be counted.
    pub(crate) flow: Option<Flow>,
    /// The method is synchronized, and its own release calls a hook: also where an exception
    /// leaves it.
    pub(crate) unwinds: bool,
    /// The local variable with `this` if unwinding needs it: 0, or a new one to which the method
    /// copies it at its start.
    pub(crate) this: Option<u16>,
}

/// A release that is to call a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedSite {
    pub(crate) pc: usize,
    pub(crate) release: Release,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// A `monitorexit`. Throwables of the hook go to the stub with this index.
    Block(usize),
    /// A return from a synchronized method.
    Return,
}

/// Code to be appended that releases a monitor and rethrows. Releases of the same kind share it.
#[derive(Debug)]
pub(crate) struct ReleaseStub<'a> {
    /// The first of these releases.
    pub(crate) pc: usize,
    pub(crate) kind: StubKind,
    pub(crate) frame: HandlerFrame<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StubKind {
    /// The local variable with the object.
    pub(crate) local: u16,
    /// The monitor: HotSpot compiles no code that releases one or another.
    monitor: usize,
    /// Where throwables get to once the monitor is released, by type.
    pub(crate) handlers: Vec<Catch>,
    /// The object under construction is perhaps not initialized.
    is_before_super: bool,
}

impl PlannedSite {
    /// Returns the target of the hook's throwables, before a `monitorexit`.
    pub(crate) fn stub(&self) -> Option<usize> {
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
        if blocks == 0 && !method.is_synchronized {
            return None;
        }
        let mut plan = Self {
            method,
            code,
            sites: Vec::new(),
            stubs: Vec::new(),
            flow: None,
            unwinds: false,
            this: None,
        };
        if let Err(reason) = plan.check() {
            leave(blocks, method.is_synchronized, reason);
            return None;
        }
        if method.is_synchronized {
            match plan.add_unwinding(class) {
                Ok(()) => {}
                Err(reason) => leave(0, true, reason),
            }
        }
        match plan.add_blocks(class) {
            Ok(unknown) => leave(unknown, false, Reason::UnknownFrame),
            Err(reason) => leave(blocks, false, reason),
        }
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

    /// Returns the new local variable to which `this` is copied.
    pub(crate) fn copy_of_this(&self) -> Option<u16> {
        self.this.filter(|&local| local > 0)
    }

    /// Returns the new local variable for objects of releases that are in no other one.
    pub(crate) fn spare_local(&self) -> u16 {
        let copies = u16::from(self.copy_of_this().is_some());
        self.code.max_locals.saturating_add(copies)
    }

    /// Returns that variable if releases with this stub need it.
    pub(crate) fn spare_of(&self, stub: usize) -> Option<u16> {
        let local = self.stubs.get(stub)?.kind.local;
        (local == self.spare_local()).then_some(local)
    }

    pub(crate) fn max_locals(&self) -> Result<u16, Reason> {
        let spare = self.spare_local();
        let is_used = self.stubs.iter().any(|stub| stub.kind.local == spare);
        let max_locals = spare.checked_add(is_used.into());
        max_locals.ok_or(Reason::TooLarge)
    }

    fn check(&self) -> Result<(), Reason> {
        let code = &self.code;
        if let Some(reason) = code.obstacle {
            return Err(reason);
        }
        let releases = code.monitor_exits.len() + code.returns.len();
        // Two more local variables fit.
        if releases.saturating_mul(code.handlers.len()) > MAX_WORK || code.max_locals > u16::MAX - 2
        {
            return Err(Reason::TooLarge);
        }
        Ok(())
    }

    fn add_unwinding(&mut self, class: &ClassFile<'a>) -> Result<(), Reason> {
        if !self.method.is_static {
            let facts = Facts::read(class, &self.method, &self.code, &[])?;
            let is_kept = facts.has_object_in_local_0 && !self.code.stores_to_local_0;
            self.this = Some(if is_kept { 0 } else { self.code.max_locals });
        } else if class.major_version < 49 {
            return Err(Reason::NoClassLiterals);
        }
        self.unwinds = true;
        Ok(())
    }

    /// Adds the `monitorexit` instructions that ways lead to. Returns how many of these stay as they
    /// are for want of a frame.
    fn add_blocks(&mut self, class: &ClassFile<'a>) -> Result<usize, Reason> {
        if self.code.monitor_exits.is_empty() {
            return Ok(0);
        }
        let flow = Flow::of(&self.code)?;
        let kinds = self.stub_kinds(class, &flow)?;
        self.flow = Some(flow);
        let wanted = kinds.iter().flat_map(|(_, kind)| &kind.handlers);
        let mut wanted: Vec<_> = wanted.map(|catch| catch.handler).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let facts = Facts::read(class, &self.method, &self.code, &wanted)?;

        let mut known: HashMap<StubKind, Option<usize>> = HashMap::new();
        let releases = kinds.len();
        for (pc, kind) in kinds {
            let stub = match known.get(&kind) {
                Some(&stub) => stub,
                None => {
                    let stub = self.stub_frame(class, &facts, &kind).map(|frame| {
                        let kind = kind.clone();
                        self.stubs.push(ReleaseStub { pc, kind, frame });
                        self.stubs.len() - 1
                    });
                    known.insert(kind, stub);
                    stub
                }
            };
            self.sites.extend(stub.map(|stub| PlannedSite {
                pc,
                release: Release::Block(stub),
            }));
        }
        Ok(releases - self.sites.len())
    }

    /// Returns the releases that ways lead to, and the kinds of their stubs.
    fn stub_kinds(
        &self,
        class: &ClassFile<'a>,
        flow: &Flow,
    ) -> Result<Vec<(usize, StubKind)>, Reason> {
        let mut before_super = self.releases_before_super(class)?;
        let exits = self.code.monitor_exits.iter();
        let reached = exits.filter_map(|exit| Some((exit, flow.innermost(exit.pc)?)));
        let kinds = reached.map(|(exit, monitor)| {
            let owned = flow.owned(exit.pc);
            let owned_after = owned.and_then(|owned| owned.checked_sub(1));
            // Those of the block itself would release the monitor again.
            let handlers = self.code.handlers.iter().filter(|handler| {
                handler.covers(exit.pc) && flow.owned(handler.catch.handler) != owned
            });
            let mut catches = Vec::new();
            for handler in handlers {
                if flow.owned(handler.catch.handler) != owned_after {
                    return Err(Reason::Unstructured);
                }
                catches.push(handler.catch);
                if handler.catch.is_of_all() {
                    break;
                }
            }
            let kind = StubKind {
                local: exit.loaded.unwrap_or_else(|| self.spare_local()),
                monitor,
                handlers: catches,
                is_before_super: before_super.remove(&exit.pc),
            };
            Ok((exit.pc, kind))
        });
        kinds.collect()
    }

    /// Returns the releases before which the object under construction is perhaps not initialized.
    /// Only classes with frames are verified so that this matters.
    fn releases_before_super(&self, class: &ClassFile<'a>) -> Result<HashSet<usize>, Reason> {
        let mut releases = HashSet::new();
        if self.method.name != b"<init>" || !self.has_frames(class) {
            return Ok(releases);
        }
        let frames = frames_before_super(class, &self.method, &self.code)?;
        // Objects that are not initialized on the straight way from the last frame on.
        let mut raw = 1usize;
        for (pc, instruction) in self.code.instructions() {
            if let Some(&is_before_super) = frames.get(&pc) {
                raw = is_before_super.into();
            }
            match instruction.kind {
                Kind::New => raw += 1,
                Kind::InvokeSpecial(method) => {
                    let method = class.pool.method(method);
                    let initializes = method.is_some_and(|(_, name, _)| name == b"<init>");
                    raw = raw.saturating_sub(initializes.into());
                }
                Kind::MonitorExit if raw > 0 => {
                    releases.insert(pc);
                }
                _ => {}
            }
        }
        Ok(releases)
    }

    /// Returns whether the method is verified by frames. Before version 50 there are none. Later, a
    /// method without any is not verified by them: in version 50 the old verifier takes it, and of
    /// classes that it does not verify a JVM before 21 forgets them (JDK-8228604), as of the boot
    /// loader's. A verified method with a handler has at least the handler's.
    fn has_frames(&self, class: &ClassFile<'a>) -> bool {
        class.major_version >= 50 && self.code.frames().is_some()
    }

    /// Returns the frame of a stub, `None` if none is known that holds at all releases of its kind.
    fn stub_frame(
        &self,
        class: &ClassFile<'a>,
        facts: &Facts<'a>,
        kind: &StubKind,
    ) -> Option<HandlerFrame<'a>> {
        let mut frame = HandlerFrame::of_any_throwable();
        // Throwables of these releases get to all these handlers, so their frames hold there.
        if self.has_frames(class) {
            for catch in &kind.handlers {
                frame.add(facts.handler(catch.handler)?, &class.pool)?;
            }
        }
        if kind.is_before_super && !frame.is_before_super() {
            return None;
        }
        for local in self.this.into_iter().chain([kind.local]) {
            frame.add_object(local)?;
        }
        Some(frame)
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
