//! A method's code with calls of the hooks.

use crate::bytes::{Put, Reader};
use crate::class_file::ClassFile;
use crate::code::{AttributeKind, Catch, Code, Handler};
use crate::constant_pool::{Hook, NewConstants};
use crate::frames::{HandlerFrame, MAX_FRAMES_LEN, move_frames, move_frames_with_this};
use crate::hooks::Hooks;
use crate::instruction::{
    ALOAD, ALOAD_0, ASTORE, ASTORE_0, ATHROW, DUP, INVOKESTATIC, Instruction, Kind, LDC_W,
    MONITOREXIT, SIPUSH, Switch, local_len, put_local, switch_padding,
};
use crate::layout::{Insertion, Layout, to_u2};
use crate::outcome::{Position, Positions, Reason, Site, SiteKind, Span};
use crate::plan::{Plan, PlannedSite, Release};
use crate::tables::{Lines, move_lines, move_local_variables, move_type_annotations};

/// The site, `invokestatic`.
const CALL_LEN: usize = 6;
/// Of the class: `ldc_w`.
const CLASS_LEN: usize = 3;
/// Stack of a call: the object and the site.
const CALL_STACK: u16 = 2;
/// Stack in the handler of a method's exceptions: the throwable, and a call.
const UNWINDING_STACK: u16 = 3;

/// A method that was changed.
#[derive(Debug)]
pub(crate) struct Emitted {
    /// Its code attribute, without name and length.
    pub(crate) attribute: Vec<u8>,
    pub(crate) sites: Vec<Site>,
    pub(crate) positions: Positions,
}

/// Writes the code of a plan, with sites from `first_site` on.
pub(crate) fn emit<'a>(
    class: &ClassFile<'a>,
    plan: &Plan<'a>,
    hooks: &Hooks<'a>,
    first_site: u32,
    constants: &mut NewConstants<'a>,
) -> Result<Emitted, Reason> {
    let insertions = plan.sites.iter().map(|site| insertion(plan, hooks, site));
    let copy_len = plan.copy_of_this().map_or(0, |copy| 1 + local_len(copy));
    let layout = Layout::new(&plan.code, copy_len, insertions.collect());
    let emitter = Emitter {
        class,
        plan,
        hooks: *hooks,
        calls_after: hooks.after_block_exit.is_some(),
        layout,
        lines: Lines::of(&plan.code),
        constants,
        copy_len,
        code: Vec::new(),
        next_site: first_site,
        sites: Vec::new(),
        spans: Vec::new(),
        handlers: Vec::new(),
        moved_handlers: Vec::new(),
        appended_frames: Vec::new(),
        appended_frames_len: 0,
        appended_lines: Vec::new(),
    };
    emitter.emit()
}

fn insertion(plan: &Plan<'_>, hooks: &Hooks<'_>, site: &PlannedSite) -> Insertion {
    let (before, after) = match site.release {
        Release::Block(stub) => {
            let after = hooks.after_block_exit.map_or(0, |_| CALL_LEN);
            (spared_len(plan, stub) + 1 + CALL_LEN, after)
        }
        Release::Return => (plan.this.map_or(CLASS_LEN, local_len) + CALL_LEN, 0),
    };
    let pc = site.pc;
    Insertion { pc, before, after }
}

/// Returns the length of the copying of the object to a local variable, if a release needs that.
fn spared_len(plan: &Plan<'_>, stub: usize) -> usize {
    match plan.spare_of(stub) {
        Some(spare) => 1 + local_len(spare),
        None => 0,
    }
}

struct Emitter<'p, 'a> {
    class: &'p ClassFile<'a>,
    plan: &'p Plan<'a>,
    hooks: Hooks<'a>,
    calls_after: bool,
    layout: Layout,
    lines: Lines,
    constants: &'p mut NewConstants<'a>,
    /// Length of the copying of `this` at the start.
    copy_len: usize,
    code: Vec<u8>,
    next_site: u32,
    sites: Vec<Site>,
    spans: Vec<Span>,
    handlers: Vec<Handler>,
    /// The index in `handlers` of each handler of the original.
    moved_handlers: Vec<usize>,
    appended_frames: Vec<(u16, HandlerFrame<'a>)>,
    appended_frames_len: usize,
    appended_lines: Vec<(u16, u16)>,
}

impl<'a> Emitter<'_, 'a> {
    fn emit(mut self) -> Result<Emitted, Reason> {
        if let Some(copy) = self.plan.copy_of_this() {
            self.note(Position::Bci(0), true)?;
            self.code.put_u1(ALOAD_0);
            put_local(&mut self.code, ASTORE, ASTORE_0, copy);
        }
        self.emit_instructions()?;
        self.add_protection()?;
        self.move_handlers()?;
        self.append_stubs()?;
        if self.plan.unwinds {
            self.append_unwinding()?;
        }
        Ok(Emitted {
            attribute: self.attribute()?,
            sites: self.sites,
            positions: Positions(self.spans),
        })
    }

    fn emit_instructions(&mut self) -> Result<(), Reason> {
        let plan = self.plan;
        let mut sites = plan.sites.iter().peekable();
        for (pc, instruction) in plan.code.instructions() {
            match sites.next_if(|site| site.pc == pc) {
                Some(site) => self.emit_release(site)?,
                None => {
                    self.note(Position::Bci(to_u2(pc)?), false)?;
                    self.emit_instruction(pc, instruction)?;
                }
            }
        }
        Ok(())
    }

    /// Writes a release, with its calls.
    fn emit_release(&mut self, site: &PlannedSite) -> Result<(), Reason> {
        let bci = to_u2(site.pc)?;
        let position = Position::Bci(bci);
        self.note(position, true)?;
        let (kind, hook) = match site.release {
            Release::Block(_) => (SiteKind::Block, Hook::Block),
            Release::Return => (SiteKind::MethodReturn, Hook::Method),
        };
        let line = self.lines.at(site.pc);
        let number = self.add_site(kind, Some(bci), line);
        match site.release {
            Release::Block(stub) => {
                self.code.put_u1(DUP);
                if let Some(spare) = self.plan.spare_of(stub) {
                    put_local(&mut self.code, ASTORE, ASTORE_0, spare);
                    self.code.put_u1(DUP);
                }
            }
            Release::Return => self.put_method_monitor(),
        }
        self.put_call(number, hook)?;
        self.note(position, false)?;
        let opcode = self.plan.code.bytes.get(site.pc);
        self.code.put_u1(*opcode.ok_or(Reason::MalformedCode)?);
        if matches!(site.release, Release::Block(_)) && self.calls_after {
            self.note(position, true)?;
            self.put_call(number, Hook::AfterBlock)?;
        }
        Ok(())
    }

    fn add_site(&mut self, kind: SiteKind, bci: Option<u16>, line: Option<u16>) -> u32 {
        let number = self.next_site;
        self.next_site = number.wrapping_add(1);
        self.sites.push(Site {
            number,
            kind,
            bci,
            line,
        });
        number
    }

    /// Loads the monitor of the method itself.
    fn put_method_monitor(&mut self) {
        match self.plan.this {
            Some(this) => put_local(&mut self.code, ALOAD, ALOAD_0, this),
            None => {
                self.code.put_u1(LDC_W);
                self.code.put_u2(self.class.this_class);
            }
        }
    }

    fn put_call(&mut self, site: u32, hook: Hook) -> Result<(), Reason> {
        // Both take three bytes, so the layout does not depend on the number.
        match i16::try_from(site) {
            Ok(site) => {
                self.code.put_u1(SIPUSH);
                self.code.put_u2(site.cast_unsigned());
            }
            Err(_) => {
                self.code.put_u1(LDC_W);
                self.code.put_u2(self.constants.integer(site)?);
            }
        }
        self.code.put_u1(INVOKESTATIC);
        self.code.put_u2(self.constants.hook(&self.hooks, hook)?);
        Ok(())
    }

    /// Notes the original position of the next code, unless the last note says the same.
    fn note(&mut self, original: Position, inserted: bool) -> Result<(), Reason> {
        let start = to_u2(self.code.len())?;
        let span = Span {
            start,
            original,
            inserted,
        };
        let goes_on = self
            .spans
            .last()
            .is_some_and(|last| !last.inserted && !inserted && last.position(start) == original);
        if !goes_on {
            self.spans.push(span);
        }
        Ok(())
    }

    fn emit_instruction(&mut self, pc: usize, instruction: Instruction) -> Result<(), Reason> {
        let Instruction { len, kind } = instruction;
        let bytes = self.plan.code.bytes.get(pc..pc + len);
        let bytes = bytes.ok_or(Reason::MalformedCode)?;
        let opcode = bytes.first().copied().unwrap_or_default();
        match kind {
            Kind::Jump(offset) => {
                let offset = self.offset(pc, offset.into())?;
                let offset = i16::try_from(offset).map_err(|_| Reason::JumpTooLong)?;
                self.code.put_u1(opcode);
                self.code.put_u2(offset.cast_unsigned());
            }
            Kind::LongJump(offset) => {
                self.code.put_u1(opcode);
                self.put_offset(pc, offset)?;
            }
            Kind::Switch(switch) => self.emit_switch(pc, bytes, switch)?,
            _ => self.code.put(bytes),
        }
        Ok(())
    }

    fn emit_switch(&mut self, pc: usize, bytes: &[u8], switch: Switch) -> Result<(), Reason> {
        let mut reader = Reader::new(bytes);
        let padding = switch_padding(self.code.len());
        self.code.put_u1(reader.u1()?);
        self.code.extend(std::iter::repeat_n(0, padding));
        reader.slice(switch.padding)?;
        self.put_offset(pc, reader.u4()?.cast_signed())?;
        self.code.put(reader.slice(switch.header_len)?);
        for _ in 0..switch.entries {
            self.code.put(reader.slice(switch.entry_len - 4)?);
            self.put_offset(pc, reader.u4()?.cast_signed())?;
        }
        Ok(())
    }

    fn put_offset(&mut self, pc: usize, offset: i32) -> Result<(), Reason> {
        let offset = self.offset(pc, offset)?;
        self.code.put_u4(offset.cast_unsigned());
        Ok(())
    }

    /// Returns the present offset of the target of a jump.
    fn offset(&self, pc: usize, offset: i32) -> Result<i32, Reason> {
        let target = usize::try_from(pc as i64 + i64::from(offset));
        let target = target
            .ok()
            .filter(|&target| self.plan.code.is_start(target));
        let target = self.layout.target(target.ok_or(Reason::MalformedCode)?)?;
        let offset = target as i64 - self.layout.instruction(pc)? as i64;
        i32::try_from(offset).map_err(|_| Reason::TooLarge)
    }

    /// Adds handlers that send any throwable of a call before a `monitorexit` to a stub, before any
    /// other handler.
    fn add_protection(&mut self) -> Result<(), Reason> {
        let mut starts = Vec::with_capacity(self.plan.stubs.len());
        let mut start = self.layout.len();
        for stub in &self.plan.stubs {
            starts.push(start);
            // Load, `monitorexit`, `athrow`.
            start += local_len(stub.kind.local) + 2;
        }
        for site in &self.plan.sites {
            let Some(stub) = site.stub() else { continue };
            let handler = starts.get(stub).copied();
            self.handlers.push(Handler {
                start: self.layout.target(site.pc)? + spared_len(self.plan, stub),
                end: self.layout.instruction(site.pc)?,
                catch: Catch {
                    handler: handler.ok_or(Reason::MalformedCode)?,
                    throwable: 0,
                },
            });
        }
        Ok(())
    }

    /// Moves the handlers of the original. None that releases a monitor may get a throwable from code
    /// after the release: such a method would not be compiled.
    fn move_handlers(&mut self) -> Result<(), Reason> {
        let plan = self.plan;
        for handler in &plan.code.handlers {
            self.moved_handlers.push(self.handlers.len());
            let catch = self.moved(handler.catch)?;
            let mut start = self.layout.target(handler.start)?;
            for hole in self.holes(handler)? {
                self.add_handler(start, hole.start, catch);
                start = hole.end;
            }
            self.add_handler(start, self.layout.end(handler.end)?, catch);
            if self.handlers.len() > usize::from(u16::MAX) {
                return Err(Reason::TooLarge);
            }
        }
        Ok(())
    }

    fn moved(&self, catch: Catch) -> Result<Catch, Reason> {
        Ok(Catch {
            handler: self.layout.target(catch.handler)?,
            ..catch
        })
    }

    /// Returns the calls in the range of a handler during which the thread does not own all the
    /// monitors that it owns in the handler.
    fn holes(&self, handler: &Handler) -> Result<Vec<std::ops::Range<usize>>, Reason> {
        let Some(flow) = &self.plan.flow else {
            return Ok(Vec::new());
        };
        let wanted = flow.owned(handler.catch.handler);
        // A monitor that the handler releases is missing.
        let lacks = |pc| flow.owned(pc).is_some_and(|owned| Some(owned) < wanted);
        let sites = &self.plan.sites;
        let first = sites.partition_point(|site| site.pc < handler.start);
        let sites = sites.get(first..).unwrap_or_default().iter();
        let mut holes = Vec::new();
        for site in sites.take_while(|site| site.pc < handler.end) {
            let release = self.layout.instruction(site.pc)?;
            match site.release {
                Release::Return if lacks(site.pc) => {
                    holes.push(self.layout.target(site.pc)?..release);
                }
                Release::Block(_)
                    if self.calls_after && site.pc + 1 < handler.end && lacks(site.pc + 1) =>
                {
                    holes.push(release + 1..self.layout.target(site.pc + 1)?);
                }
                _ => {}
            }
        }
        Ok(holes)
    }

    /// Adds a handler unless it handles nothing.
    fn add_handler(&mut self, start: usize, end: usize, catch: Catch) {
        if start < end {
            self.handlers.push(Handler { start, end, catch });
        }
    }

    /// Appends code that releases monitors and calls nothing.
    fn append_stubs(&mut self) -> Result<(), Reason> {
        let plan = self.plan;
        for stub in &plan.stubs {
            let start = to_u2(self.code.len())?;
            self.note(Position::Bci(to_u2(stub.pc)?), true)?;
            put_local(&mut self.code, ALOAD, ALOAD_0, stub.kind.local);
            self.code.put(&[MONITOREXIT, ATHROW]);
            let end = self.code.len();
            for &catch in &stub.kind.handlers {
                let catch = self.moved(catch)?;
                self.add_handler(end - 1, end, catch);
            }
            self.append_line(start, self.lines.at(stub.pc));
            self.append_frame(start, stub.frame.clone())?;
        }
        Ok(())
    }

    /// Appends a handler of any throwable that leaves a synchronized method.
    fn append_unwinding(&mut self) -> Result<(), Reason> {
        let handler = self.code.len();
        let start = to_u2(handler)?;
        self.note(Position::Unwinding, true)?;
        let line = self.lines.at(0);
        let number = self.add_site(SiteKind::MethodUnwind, None, line);
        self.put_method_monitor();
        self.put_call(number, Hook::Method)?;
        self.code.put_u1(ATHROW);
        let throwable = 0;
        self.add_handler(self.copy_len, handler, Catch { handler, throwable });
        self.append_line(start, line);
        let mut frame = HandlerFrame::of_any_throwable();
        if let Some(this) = self.plan.this {
            frame.add_object(this).ok_or(Reason::MalformedCode)?;
        }
        self.append_frame(start, frame)?;
        Ok(())
    }

    fn append_frame(&mut self, start: u16, frame: HandlerFrame<'a>) -> Result<(), Reason> {
        self.appended_frames_len += frame.max_len();
        if self.appended_frames_len > MAX_FRAMES_LEN {
            return Err(Reason::TooLarge);
        }
        self.appended_frames.push((start, frame));
        Ok(())
    }

    fn append_line(&mut self, start: u16, line: Option<u16>) {
        self.appended_lines.extend(line.map(|line| (start, line)));
    }

    fn attribute(&mut self) -> Result<Vec<u8>, Reason> {
        let code = &self.plan.code;
        to_u2(self.code.len())?;
        let mut out = Vec::with_capacity(self.code.len() + 64);
        out.put_u2(self.max_stack()?);
        out.put_u2(self.plan.max_locals()?);
        out.put_u4(self.code.len() as u32);
        out.put(&self.code);
        let count = u16::try_from(self.handlers.len()).map_err(|_| Reason::TooLarge)?;
        out.put_u2(count);
        for handler in &self.handlers {
            for position in [handler.start, handler.end, handler.catch.handler] {
                out.put_u2(to_u2(position)?);
            }
            out.put_u2(handler.catch.throwable);
        }
        self.put_attributes(&mut out, code)?;
        Ok(out)
    }

    fn max_stack(&self) -> Result<u16, Reason> {
        let max_stack = self.plan.code.max_stack.checked_add(CALL_STACK);
        let max_stack = max_stack.ok_or(Reason::TooLarge)?;
        Ok(match self.plan.unwinds {
            true => max_stack.max(UNWINDING_STACK),
            false => max_stack,
        })
    }

    fn put_attributes(&mut self, out: &mut Vec<u8>, code: &Code<'a>) -> Result<(), Reason> {
        let needs_frames = self.class.major_version >= 50 && !self.appended_frames.is_empty();
        let adds_frames = needs_frames && code.frames().is_none();
        let count = code.attributes.len() + usize::from(adds_frames);
        out.put_u2(u16::try_from(count).map_err(|_| Reason::TooLarge)?);
        for attribute in &code.attributes {
            let moved;
            let bytes = match attribute.kind {
                AttributeKind::Other => attribute.bytes,
                kind => {
                    moved = self.moved_table(kind, attribute.bytes)?;
                    &moved
                }
            };
            put_attribute(out, attribute.name, bytes);
        }
        if adds_frames {
            let name = self.constants.utf8(b"StackMapTable")?;
            let frames = self.moved_table(AttributeKind::Frames, &[])?;
            put_attribute(out, name, &frames);
        }
        Ok(())
    }

    fn moved_table(&mut self, kind: AttributeKind, bytes: &[u8]) -> Result<Vec<u8>, Reason> {
        let layout = &self.layout;
        match kind {
            AttributeKind::Frames => {
                let (plan, appended) = (self.plan, &self.appended_frames);
                let code = &plan.code;
                match plan.copy_of_this() {
                    None => move_frames(code, layout, None, appended, self.constants),
                    Some(copy) => {
                        let (class, method) = (self.class, &plan.method);
                        let constants = &mut *self.constants;
                        move_frames_with_this(
                            class, method, code, layout, copy, appended, constants,
                        )
                    }
                }
            }
            AttributeKind::LineNumbers => {
                // Into the first table, if there are several.
                let appended = std::mem::take(&mut self.appended_lines);
                move_lines(bytes, layout, &appended)
            }
            AttributeKind::LocalVariables => move_local_variables(bytes, layout),
            AttributeKind::TypeAnnotations => {
                move_type_annotations(bytes, layout, &self.moved_handlers)
            }
            AttributeKind::Other => Ok(bytes.to_vec()),
        }
    }
}

fn put_attribute(out: &mut Vec<u8>, name: u16, bytes: &[u8]) {
    out.put_u2(name);
    out.put_u4(bytes.len() as u32);
    out.put(bytes);
}
