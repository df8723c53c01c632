//! Which releases of a method can call a hook.

use std::collections::BTreeSet;

use crate::class_file::{ClassFile, Method};
use crate::code::{Code, Handler};
use crate::frames::{Facts, HandlerFrame};
use crate::instruction::{Kind, decode};
use crate::outcome::{LeftAlone, Reason};

/// What is to be done to a method.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) method: Method<'a>,
    pub(crate) code: Code<'a>,
    /// In order of their positions.
    pub(crate) sites: Vec<PlannedSite>,
    /// By the position of the original.
    pub(crate) copies: Vec<HandlerCopy<'a>>,
    /// Handlers that do nothing but release a monitor, in order of their positions.
    pub(crate) release_handlers: Vec<ReleaseHandler>,
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
    /// A `monitorexit`; what the hook throws is handled by a copy of the handler that begins at
    /// this position.
    Block { handler: usize },
    /// A return from a synchronized method.
    Return,
}

impl PlannedSite {
    /// The handler of which a copy handles what the hook throws.
    pub(crate) fn handler(&self) -> Option<usize> {
        match self.release {
            Release::Block { handler } => Some(handler),
            Release::Return => None,
        }
    }
}

/// A handler that releases a monitor and throws on: what compilers append to each synchronized
/// block. It is copied, so that the copy calls no hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReleaseHandler {
    pub(crate) pc: usize,
    /// Its `athrow`, which ends it.
    pub(crate) throw: usize,
}

#[derive(Debug)]
pub(crate) struct HandlerCopy<'a> {
    pub(crate) original: ReleaseHandler,
    /// `None` where the class file needs none.
    pub(crate) frame: Option<HandlerFrame<'a>>,
}

/// Of work on one method, in releases times handlers: more is made to take time.
const MAX_WORK: usize = 1 << 22;

impl<'a> Plan<'a> {
    /// What can be done to a method, if anything. What cannot be done is in `left_alone`.
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
            copies: Vec::new(),
            release_handlers: Vec::new(),
            unwinds: false,
        };
        if blocks == 0 && !method.is_synchronized {
            return None;
        }
        let facts = match plan.read(class) {
            Ok(facts) => facts,
            Err(reason) => {
                leave(blocks, method.is_synchronized, reason);
                return None;
            }
        };
        plan.add_blocks(class, &facts.handlers);
        leave(blocks - plan.sites.len(), false, Reason::Unprotected);
        if method.is_synchronized {
            match plan.obstacle_to_method_exits(class, &facts) {
                Some(reason) => leave(0, true, reason),
                None => plan.add_method_exits(),
            }
        }
        (!plan.sites.is_empty() || plan.unwinds).then_some(plan)
    }

    /// How many numbers its sites need.
    pub(crate) fn site_count(&self) -> usize {
        self.sites.len() + usize::from(self.unwinds)
    }

    /// All its releases as left alone.
    pub(crate) fn left_alone(&self, reason: Reason) -> LeftAlone<'a> {
        let blocks = self.sites.iter().filter_map(PlannedSite::handler).count();
        self.method.left_alone(blocks, self.unwinds, reason)
    }

    pub(crate) fn is_release_handler(&self, pc: usize) -> bool {
        let handlers = &self.release_handlers;
        handlers
            .binary_search_by_key(&pc, |handler| handler.pc)
            .is_ok()
    }

    /// Finds the handlers that release monitors, and what the frames say of them.
    fn read(&mut self, class: &ClassFile<'a>) -> Result<Facts<'a>, Reason> {
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
        Facts::read(class, &self.method, code, &wanted)
    }

    fn add_blocks(&mut self, class: &ClassFile<'a>, frames: &[(usize, HandlerFrame<'a>)]) {
        let frame = |pc| {
            let index = frames.binary_search_by_key(&pc, |&(pc, _)| pc);
            index
                .ok()
                .and_then(|i| frames.get(i))
                .map(|(_, frame)| frame)
        };
        // Before, old verifiers find out themselves, or no verifier would have been content.
        let needs_frame = class.major_version > 50;
        for &pc in &self.code.monitor_exits {
            let handler = self
                .code
                .handlers
                .iter()
                .find(|handler| handler.catches_all() && handler.covers(pc));
            let Some(&Handler { handler, .. }) = handler else {
                continue;
            };
            if self.is_release_handler(handler) && (frame(handler).is_some() || !needs_frame) {
                let release = Release::Block { handler };
                self.sites.push(PlannedSite { pc, release });
            }
        }
        let used: BTreeSet<_> = self.sites.iter().filter_map(PlannedSite::handler).collect();
        let handlers = self.release_handlers.iter();
        let handlers = handlers.filter(|handler| used.contains(&handler.pc));
        let copies = handlers.map(|&original| HandlerCopy {
            original,
            frame: frame(original.pc).cloned(),
        });
        self.copies = copies.collect();
    }

    fn obstacle_to_method_exits(&self, class: &ClassFile<'a>, facts: &Facts<'a>) -> Option<Reason> {
        if self.method.is_static {
            (class.major_version < 49).then_some(Reason::NoClassLiterals)
        } else {
            let is_overwritten = self.code.stores_to_local_0 || !facts.has_object_in_local_0;
            is_overwritten.then_some(Reason::ThisOverwritten)
        }
    }

    fn add_method_exits(&mut self) {
        let returns = self.code.returns.iter().map(|&pc| PlannedSite {
            pc,
            release: Release::Return,
        });
        self.sites.extend(returns);
        self.sites.sort_unstable_by_key(|site| site.pc);
        self.unwinds = true;
    }
}

impl<'a> Method<'a> {
    fn left_alone(&self, blocks: usize, method: bool, reason: Reason) -> LeftAlone<'a> {
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
    /// The handler at `pc`, if it does nothing but move values, release one monitor, and throw.
    fn at(code: &Code<'_>, pc: usize) -> Option<Self> {
        /// Compilers need five, coverage tools a few more.
        const MAX_INSTRUCTIONS: usize = 24;
        let mut at = pc;
        let mut releases = 0;
        for _ in 0..MAX_INSTRUCTIONS {
            let instruction = decode(code.bytes, at).ok()?;
            match instruction.kind {
                Kind::Move => {}
                Kind::MonitorExit => releases += 1,
                Kind::Throw => return (releases == 1).then_some(Self { pc, throw: at }),
                _ => return None,
            }
            at += instruction.len;
        }
        None
    }
}
