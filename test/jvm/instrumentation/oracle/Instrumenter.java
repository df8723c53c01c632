package instrumentation.oracle;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/** Puts calls of the hooks into a method, by lists of instructions instead of offsets. */
final class Instrumenter implements Opcodes {
    private static final String HOOKS = "java/lang/InstrumentedExits";
    private static final String OBJECT_AND_SITE = "(Ljava/lang/Object;I)V";

    private final ClassNode owner;
    private final MethodNode method;
    private final boolean callsAfter;
    private final boolean isStatic;
    private final boolean isSynchronized;

    /** By instruction, label or line: how many instructions are before it. */
    private final Map<AbstractInsnNode, Integer> positions = new IdentityHashMap<>();

    private final List<AbstractInsnNode> instructions = new ArrayList<>();
    private final Set<Integer> targets = new HashSet<>();

    /** By position: how many monitors the method's blocks own there. */
    private final Map<Integer, Integer> owned = new HashMap<>();

    /** By position: where these monitors were acquired, the last one first. */
    private final Map<Integer, List<Integer>> enters = new HashMap<>();

    private final List<TryCatchBlockNode> protections = new ArrayList<>();

    /** By all in which they can differ. */
    private final Map<List<Object>, Stub> stubs = new LinkedHashMap<>();

    /** The local variable with {@code this}. */
    private int self;

    /** A local variable that the method does not have. */
    private int spare;

    private int site;

    /** Code that releases a monitor and throws on to other handlers. */
    private static final class Stub {
        final LabelNode label = new LabelNode();
        int position;
        int local;
        List<TryCatchBlockNode> handlers;
    }

    Instrumenter(ClassNode owner, MethodNode method, boolean callsAfter, int firstSite) {
        this.owner = owner;
        this.method = method;
        this.callsAfter = callsAfter;
        this.isStatic = (method.access & ACC_STATIC) != 0;
        this.isSynchronized = (method.access & ACC_SYNCHRONIZED) != 0;
        this.site = firstSite;
    }

    /** Returns the next site. */
    int instrument() {
        if (method.instructions.size() == 0) {
            return site;
        }
        read();
        spare = method.maxLocals;
        boolean copies = isSynchronized && !isStatic && overwritesThis();
        if (copies) {
            self = spare++;
            method.maxLocals = spare;
        }
        int sites = site;
        List<TryCatchBlockNode> handlers = method.tryCatchBlocks;
        List<Object[]> holes = new ArrayList<>();
        for (AbstractInsnNode instruction : instructions) {
            int opcode = instruction.getOpcode();
            if (opcode == MONITOREXIT) {
                release(instruction, holes);
            } else if (isSynchronized && opcode >= IRETURN && opcode <= RETURN) {
                LabelNode start = new LabelNode();
                LabelNode end = new LabelNode();
                InsnList call = new InsnList();
                call.add(start);
                call.add(methodMonitor());
                call.add(site(site++));
                call.add(call("methodExit", OBJECT_AND_SITE));
                call.add(end);
                method.instructions.insertBefore(instruction, call);
                holes.add(new Object[] {instruction, start, end, owned.get(positions.get(instruction))});
            }
        }
        boolean changes = site > sites || isSynchronized;
        if (!changes) {
            return site;
        }
        List<TryCatchBlockNode> all = new ArrayList<>();
        for (TryCatchBlockNode handler : handlers) {
            cut(handler, holes, all);
        }
        appendStubs(all);
        all.addAll(0, protections);
        if (isSynchronized) {
            all.add(appendUnwinding());
        }
        if (copies) {
            copyThis();
        }
        for (int i = 0; i < all.size(); i++) {
            all.get(i).updateIndex(i);
        }
        method.tryCatchBlocks = all;
        method.maxStack = Math.max(method.maxStack + 2, isSynchronized ? 3 : 0);
        return site;
    }

    private void read() {
        for (AbstractInsnNode node : method.instructions.toArray()) {
            positions.put(node, instructions.size());
            if (node.getOpcode() < 0) {
                continue;
            }
            instructions.add(node);
        }
        for (AbstractInsnNode node : instructions) {
            if (node instanceof JumpInsnNode) {
                target(((JumpInsnNode) node).label);
            } else if (node instanceof TableSwitchInsnNode) {
                TableSwitchInsnNode table = (TableSwitchInsnNode) node;
                table.labels.forEach(this::target);
                target(table.dflt);
            } else if (node instanceof LookupSwitchInsnNode) {
                LookupSwitchInsnNode table = (LookupSwitchInsnNode) node;
                table.labels.forEach(this::target);
                target(table.dflt);
            }
        }
        for (TryCatchBlockNode handler : method.tryCatchBlocks) {
            target(handler.handler);
        }
        Deque<Integer> pending = new ArrayDeque<>();
        reach(0, Collections.emptyList(), pending);
        for (boolean isDone = false; !isDone; ) {
            while (!pending.isEmpty()) {
                follow(pending.pop(), pending);
            }
            isDone = true;
            for (TryCatchBlockNode handler : method.tryCatchBlocks) {
                Integer inRange = owned.get(positions.get(handler.start));
                if (inRange != null && !owned.containsKey(positions.get(handler.handler))) {
                    reach(
                            positions.get(handler.handler),
                            enters.get(positions.get(handler.start)),
                            pending);
                    isDone = false;
                    break;
                }
            }
        }
    }

    private void reach(int at, List<Integer> monitors, Deque<Integer> pending) {
        Integer before = owned.put(at, monitors.size());
        if (before == null) {
            enters.put(at, monitors);
            pending.push(at);
        } else if (before != monitors.size()) {
            throw new IllegalStateException(owner.name + " " + method.name + ": " + at);
        }
    }

    private void follow(int at, Deque<Integer> pending) {
        AbstractInsnNode node = instructions.get(at);
        int opcode = node.getOpcode();
        List<Integer> after = enters.get(at);
        if (opcode == MONITORENTER) {
            after = new ArrayList<>(after);
            after.add(0, at);
        } else if (opcode == MONITOREXIT) {
            after = after.subList(1, after.size());
        }
        List<LabelNode> next = new ArrayList<>();
        if (node instanceof JumpInsnNode) {
            next.add(((JumpInsnNode) node).label);
        } else if (node instanceof TableSwitchInsnNode) {
            next.addAll(((TableSwitchInsnNode) node).labels);
            next.add(((TableSwitchInsnNode) node).dflt);
        } else if (node instanceof LookupSwitchInsnNode) {
            next.addAll(((LookupSwitchInsnNode) node).labels);
            next.add(((LookupSwitchInsnNode) node).dflt);
        } else if (mayThrow(node)) {
            for (TryCatchBlockNode handler : method.tryCatchBlocks) {
                if (covers(handler, at)) {
                    next.add(handler.handler);
                    if (handler.type == null) {
                        break;
                    }
                }
            }
        }
        for (LabelNode label : next) {
            reach(positions.get(label), after, pending);
        }
        boolean isLast =
                opcode == GOTO
                        || opcode == RET
                        || opcode == ATHROW
                        || opcode == TABLESWITCH
                        || opcode == LOOKUPSWITCH
                        || opcode >= IRETURN && opcode <= RETURN;
        if (!isLast) {
            reach(at + 1, after, pending);
        }
    }

    /** What moves values, and monitors themselves, is taken to throw nothing. */
    private static boolean mayThrow(AbstractInsnNode node) {
        int opcode = node.getOpcode();
        boolean moves =
                opcode <= SIPUSH
                        || opcode >= ILOAD && opcode <= ALOAD
                        || opcode >= ISTORE && opcode <= ASTORE
                        || opcode == BASTORE
                        || opcode >= POP && opcode <= SWAP
                        || opcode == IINC
                        || opcode == RET;
        boolean ends = opcode >= IRETURN && opcode <= RETURN;
        return !moves && !ends && opcode != MONITORENTER && opcode != MONITOREXIT;
    }

    private boolean overwritesThis() {
        for (AbstractInsnNode node : method.instructions.toArray()) {
            int opcode = node.getOpcode();
            if (opcode >= ISTORE && opcode <= ASTORE && ((VarInsnNode) node).var == 0) {
                return true;
            }
            if (node instanceof FrameNode) {
                List<Object> locals = ((FrameNode) node).local;
                if (locals.isEmpty() || !(locals.get(0) instanceof String)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Puts {@code this} into a local variable of its own, which all frames have. */
    private void copyThis() {
        InsnList copy = new InsnList();
        copy.add(new VarInsnNode(ALOAD, 0));
        copy.add(new VarInsnNode(ASTORE, self));
        method.instructions.insert(copy);
        for (AbstractInsnNode node : method.instructions.toArray()) {
            if (node instanceof FrameNode && positions.containsKey(node)) {
                FrameNode frame = (FrameNode) node;
                frame.local = new ArrayList<>(frame.local);
                while (slots(frame.local) < self) {
                    frame.local.add(TOP);
                }
                frame.local.add("java/lang/Object");
            }
        }
    }

    private static int slots(List<Object> locals) {
        int wide = Collections.frequency(locals, LONG) + Collections.frequency(locals, DOUBLE);
        return locals.size() + wide;
    }

    private void target(LabelNode label) {
        targets.add(positions.get(label));
    }

    private boolean covers(TryCatchBlockNode handler, int at) {
        return positions.get(handler.start) <= at && at < positions.get(handler.end);
    }

    private void release(AbstractInsnNode exit, List<Object[]> holes) {
        int at = positions.get(exit);
        Integer monitor = owned.get(at);
        if (monitor == null) {
            return;
        }
        AbstractInsnNode load = instructions.get(at - 1);
        boolean isLoaded = load.getOpcode() == ALOAD && !targets.contains(at);
        int number = site++;
        LabelNode start = new LabelNode();
        LabelNode end = new LabelNode();
        InsnList call = new InsnList();
        call.add(new InsnNode(DUP));
        if (!isLoaded) {
            call.add(new VarInsnNode(ASTORE, spare));
            call.add(new InsnNode(DUP));
            method.maxLocals = Math.max(method.maxLocals, spare + 1);
        }
        call.insertBefore(isLoaded ? call.getFirst() : call.getLast(), start);
        call.add(site(number));
        call.add(call("blockExit", OBJECT_AND_SITE));
        call.add(end);
        method.instructions.insertBefore(exit, call);
        Stub stub = stub(at, monitor, isLoaded ? ((VarInsnNode) load).var : spare);
        protections.add(new TryCatchBlockNode(start, end, stub.label, null));
        if (callsAfter) {
            LabelNode released = new LabelNode();
            LabelNode done = new LabelNode();
            InsnList after = new InsnList();
            after.add(released);
            after.add(site(number));
            after.add(call("afterBlockExit", "(I)V"));
            after.add(done);
            method.instructions.insert(exit, after);
            holes.add(new Object[] {exit, released, done, monitor - 1});
        }
    }

    /** Handlers that own the monitor that is released would release it again. */
    private Stub stub(int at, int monitor, int local) {
        List<TryCatchBlockNode> handlers = new ArrayList<>();
        List<Object> key = new ArrayList<>(Arrays.asList(local, enters.get(at).get(0)));
        for (TryCatchBlockNode handler : method.tryCatchBlocks) {
            int handlerAt = positions.get(handler.handler);
            if (covers(handler, at) && !Objects.equals(owned.get(handlerAt), monitor)) {
                handlers.add(handler);
                key.addAll(Arrays.asList(handlerAt, handler.type));
                if (handler.type == null) {
                    break;
                }
            }
        }
        return stubs.computeIfAbsent(
                key,
                unknown -> {
                    Stub stub = new Stub();
                    stub.position = at;
                    stub.local = local;
                    stub.handlers = handlers;
                    return stub;
                });
    }

    /** Adds what a handler is in charge of now. */
    private void cut(TryCatchBlockNode handler, List<Object[]> holes, List<TryCatchBlockNode> all) {
        LabelNode start = handler.start;
        LabelNode end = handler.end;
        Integer wanted = owned.get(positions.get(handler.handler));
        int endAt = positions.get(handler.end);
        for (Object[] hole : holes) {
            AbstractInsnNode release = (AbstractInsnNode) hole[0];
            int at = positions.get(release);
            Integer left = (Integer) hole[3];
            if (release.getOpcode() == MONITOREXIT && endAt == at + 1) {
                end = (LabelNode) hole[1];
            } else if (covers(handler, at) && wanted != null && left != null && left < wanted) {
                add(start, (LabelNode) hole[1], handler, all);
                start = (LabelNode) hole[2];
            }
        }
        add(start, end, handler, all);
    }

    private void add(
            LabelNode start, LabelNode end, TryCatchBlockNode handler, List<TryCatchBlockNode> all) {
        boolean isEmpty = true;
        for (AbstractInsnNode node = start; node != end; node = node.getNext()) {
            isEmpty &= node.getOpcode() < 0;
        }
        if (isEmpty) {
            return;
        }
        TryCatchBlockNode part = new TryCatchBlockNode(start, end, handler.handler, handler.type);
        // Annotations are of the first part.
        part.visibleTypeAnnotations = handler.visibleTypeAnnotations;
        part.invisibleTypeAnnotations = handler.invisibleTypeAnnotations;
        handler.visibleTypeAnnotations = null;
        handler.invisibleTypeAnnotations = null;
        all.add(part);
    }

    private void appendStubs(List<TryCatchBlockNode> all) {
        InsnList code = method.instructions;
        for (Stub stub : stubs.values()) {
            code.add(stub.label);
            if (hasFrames()) {
                code.add(frame(stub));
            }
            addLine(stub.label, stub.position);
            code.add(new VarInsnNode(ALOAD, stub.local));
            code.add(new InsnNode(MONITOREXIT));
            LabelNode start = new LabelNode();
            LabelNode end = new LabelNode();
            code.add(start);
            code.add(new InsnNode(ATHROW));
            code.add(end);
            for (TryCatchBlockNode handler : stub.handlers) {
                all.add(new TryCatchBlockNode(start, end, handler.handler, handler.type));
            }
        }
    }

    /** Has what the handlers need, the object, and {@code this}. */
    private FrameNode frame(Stub stub) {
        Object[] locals = new Object[method.maxLocals + 3];
        Arrays.fill(locals, TOP);
        int count = 0;
        for (TryCatchBlockNode handler : stub.handlers) {
            FrameNode frame = frameAt(positions.get(handler.handler));
            int index = 0;
            for (Object local : frame == null ? Collections.emptyList() : frame.local) {
                boolean isKnown = locals[index] != TOP && locals[index] != "java/lang/Object";
                if (!isKnown || local == NULL) {
                    locals[index] = local;
                }
                index += local == LONG || local == DOUBLE ? 2 : 1;
            }
            count = Math.max(count, index);
        }
        boolean needsThis = isSynchronized && !isStatic;
        for (int local : needsThis ? new int[] {self, stub.local} : new int[] {stub.local}) {
            if (locals[local] == TOP) {
                locals[local] = "java/lang/Object";
            }
            count = Math.max(count, local + 1);
        }
        List<Object> entries = new ArrayList<>();
        for (int i = 0; i < count; i += locals[i] == LONG || locals[i] == DOUBLE ? 2 : 1) {
            entries.add(locals[i]);
        }
        Object[] stack = {"java/lang/Throwable"};
        return new FrameNode(F_NEW, entries.size(), entries.toArray(), 1, stack);
    }

    private TryCatchBlockNode appendUnwinding() {
        LabelNode begin = new LabelNode();
        method.instructions.insert(begin);
        LabelNode handler = new LabelNode();
        InsnList code = method.instructions;
        code.add(handler);
        if (hasFrames()) {
            Stub nothing = new Stub();
            nothing.handlers = new ArrayList<>();
            nothing.local = self;
            FrameNode frame = frame(nothing);
            code.add(isStatic ? new FrameNode(F_NEW, 0, null, 1, frame.stack.toArray()) : frame);
        }
        addLine(handler, 0);
        code.add(methodMonitor());
        code.add(site(site++));
        code.add(call("methodExit", OBJECT_AND_SITE));
        code.add(new InsnNode(ATHROW));
        return new TryCatchBlockNode(begin, handler, handler, null);
    }

    private boolean hasFrames() {
        return (owner.version & 0xffff) >= V1_6;
    }

    private FrameNode frameAt(int position) {
        for (AbstractInsnNode node : method.instructions.toArray()) {
            Integer at = positions.get(node);
            if (node instanceof FrameNode && at != null && at == position) {
                return (FrameNode) node;
            }
        }
        return null;
    }

    /** Gives appended code the line of an original position. */
    private void addLine(LabelNode label, int position) {
        int line = -1;
        int nearest = -1;
        for (AbstractInsnNode node : method.instructions.toArray()) {
            if (node instanceof LineNumberNode) {
                LineNumberNode number = (LineNumberNode) node;
                Integer start = positions.get(number.start);
                if (start != null && start <= position && start >= nearest) {
                    nearest = start;
                    line = number.line;
                }
            }
        }
        if (line >= 0) {
            method.instructions.add(new LineNumberNode(line, label));
        }
    }

    private AbstractInsnNode methodMonitor() {
        return isStatic
                ? new LdcInsnNode(Type.getObjectType(owner.name))
                : new VarInsnNode(ALOAD, self);
    }

    private static AbstractInsnNode site(int number) {
        return number <= Short.MAX_VALUE
                ? new IntInsnNode(SIPUSH, number)
                : new LdcInsnNode(number);
    }

    private static AbstractInsnNode call(String name, String descriptor) {
        return new MethodInsnNode(INVOKESTATIC, HOOKS, name, descriptor, false);
    }
}
