package instrumentation.oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
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

    /** By position. */
    private final TreeMap<Integer, Release> releaseHandlers = new TreeMap<>();

    private final List<TryCatchBlockNode> protections = new ArrayList<>();

    /** By position of the handler, and by local variable. */
    private final TreeMap<Integer, TreeMap<Integer, LabelNode>> stubs = new TreeMap<>();

    private int site;

    /** A handler that releases a monitor and throws on. */
    private static final class Release {
        LabelNode label;
        int throwsAt;
        int local;
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
                holes.add(new Object[] {instruction, null, start, end});
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
        appendStubs(handlers, all);
        all.addAll(0, protections);
        if (isSynchronized) {
            all.add(appendUnwinding());
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
        for (TryCatchBlockNode handler : method.tryCatchBlocks) {
            if (handler.type == null) {
                findRelease(handler.handler);
            }
        }
    }

    private void target(LabelNode label) {
        targets.add(positions.get(label));
    }

    private void findRelease(LabelNode label) {
        Release release = new Release();
        release.label = label;
        release.local = -1;
        int start = positions.get(label);
        int last = Math.min(instructions.size(), start + 24);
        for (int at = start; at < last; at++) {
            AbstractInsnNode node = instructions.get(at);
            int opcode = node.getOpcode();
            boolean moves =
                    opcode <= SIPUSH
                            || opcode >= ILOAD && opcode <= ALOAD
                            || opcode >= ISTORE && opcode <= ASTORE
                            || opcode == BASTORE
                            || opcode >= POP && opcode <= SWAP
                            || opcode == IINC;
            if (opcode == MONITOREXIT) {
                AbstractInsnNode load = at == start ? null : instructions.get(at - 1);
                if (release.local >= 0 || load == null || load.getOpcode() != ALOAD) {
                    return;
                }
                release.local = ((VarInsnNode) load).var;
            } else if (opcode == ATHROW) {
                if (release.local >= 0) {
                    release.throwsAt = at;
                    releaseHandlers.put(start, release);
                }
                return;
            } else if (!moves) {
                return;
            }
        }
    }

    /** The handler that belongs to a release. */
    private Release handlerOf(int at, int local) {
        Map.Entry<Integer, Release> around = releaseHandlers.floorEntry(at);
        if (around != null && around.getValue().throwsAt >= at) {
            return around.getValue();
        }
        Release behind = first(handler -> positions.get(handler.end) == at + 1);
        if (behind != null) {
            return behind;
        }
        Release before =
                first(handler -> {
                    int end = positions.get(handler.end);
                    return end == at || end == at - 1;
                });
        if (before != null && before.local == local) {
            return before;
        }
        Release covering = first(handler -> covers(handler, at));
        return covering != null && covering.local == local ? covering : null;
    }

    private boolean covers(TryCatchBlockNode handler, int at) {
        return positions.get(handler.start) <= at && at < positions.get(handler.end);
    }

    private Release first(Predicate<TryCatchBlockNode> isWanted) {
        for (TryCatchBlockNode handler : method.tryCatchBlocks) {
            if (handler.type == null && isWanted.test(handler)) {
                return releaseHandlers.get(positions.get(handler.handler));
            }
        }
        return null;
    }

    private void release(AbstractInsnNode exit, List<Object[]> holes) {
        int at = positions.get(exit);
        AbstractInsnNode load = at == 0 ? null : instructions.get(at - 1);
        if (load == null || load.getOpcode() != ALOAD || targets.contains(at)) {
            return;
        }
        int local = ((VarInsnNode) load).var;
        Release handler = handlerOf(at, local);
        if (handler == null) {
            return;
        }
        int number = site++;
        LabelNode start = new LabelNode();
        LabelNode end = new LabelNode();
        InsnList call = new InsnList();
        call.add(start);
        call.add(new InsnNode(DUP));
        call.add(site(number));
        call.add(call("blockExit", OBJECT_AND_SITE));
        call.add(end);
        method.instructions.insertBefore(exit, call);
        int handlerAt = positions.get(handler.label);
        LabelNode stub =
                stubs.computeIfAbsent(handlerAt, key -> new TreeMap<>())
                        .computeIfAbsent(local, key -> new LabelNode());
        protections.add(new TryCatchBlockNode(start, end, stub, null));
        if (callsAfter) {
            LabelNode released = new LabelNode();
            LabelNode done = new LabelNode();
            InsnList after = new InsnList();
            after.add(released);
            after.add(site(number));
            after.add(call("afterBlockExit", "(I)V"));
            after.add(done);
            method.instructions.insert(exit, after);
            holes.add(new Object[] {exit, handlerAt, released, done});
        }
    }

    /** Adds what a handler is in charge of now. */
    private void cut(TryCatchBlockNode handler, List<Object[]> holes, List<TryCatchBlockNode> all) {
        LabelNode start = handler.start;
        LabelNode end = handler.end;
        int handlerAt = positions.get(handler.handler);
        boolean isRelease = handler.type == null && releaseHandlers.containsKey(handlerAt);
        int endAt = positions.get(handler.end);
        for (Object[] hole : holes) {
            int at = positions.get((AbstractInsnNode) hole[0]);
            boolean isReturn = hole[1] == null;
            if (!isReturn && endAt == at + 1) {
                end = (LabelNode) hole[2];
            } else if (isRelease
                    && covers(handler, at)
                    && (isReturn || (Integer) hole[1] == handlerAt)) {
                add(start, (LabelNode) hole[2], handler, all);
                start = (LabelNode) hole[3];
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

    private void appendStubs(List<TryCatchBlockNode> handlers, List<TryCatchBlockNode> all) {
        InsnList code = method.instructions;
        for (Map.Entry<Integer, TreeMap<Integer, LabelNode>> entry : stubs.entrySet()) {
            Release release = releaseHandlers.get(entry.getKey());
            for (Map.Entry<Integer, LabelNode> stub : entry.getValue().entrySet()) {
                List<TryCatchBlockNode> outer = new ArrayList<>();
                for (TryCatchBlockNode handler : handlers) {
                    if (covers(handler, release.throwsAt)
                            && !positions.get(handler.handler).equals(entry.getKey())) {
                        outer.add(handler);
                        if (handler.type == null) {
                            break;
                        }
                    }
                }
                code.add(stub.getValue());
                FrameNode frame = frameAt(entry.getKey());
                boolean beforeSuper =
                        frame != null && frame.local.contains(UNINITIALIZED_THIS);
                if (outer.isEmpty() && !beforeSuper) {
                    frame = simpleFrame(stub.getKey());
                }
                if (hasFrames()) {
                    code.add(frame.clone(labelsThemselves()));
                }
                addLine(stub.getValue(), entry.getKey());
                code.add(new VarInsnNode(ALOAD, stub.getKey()));
                code.add(new InsnNode(MONITOREXIT));
                LabelNode start = new LabelNode();
                LabelNode end = new LabelNode();
                code.add(start);
                code.add(new InsnNode(ATHROW));
                code.add(end);
                for (TryCatchBlockNode handler : outer) {
                    all.add(new TryCatchBlockNode(start, end, handler.handler, handler.type));
                }
            }
        }
    }

    private TryCatchBlockNode appendUnwinding() {
        LabelNode begin = new LabelNode();
        method.instructions.insert(begin);
        LabelNode handler = new LabelNode();
        InsnList code = method.instructions;
        code.add(handler);
        if (hasFrames()) {
            code.add(simpleFrame(-1));
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

    private Map<LabelNode, LabelNode> labelsThemselves() {
        Map<LabelNode, LabelNode> labels = new IdentityHashMap<>();
        for (AbstractInsnNode node : method.instructions.toArray()) {
            if (node instanceof LabelNode) {
                labels.put((LabelNode) node, (LabelNode) node);
            }
        }
        return labels;
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

    private FrameNode simpleFrame(int local) {
        boolean needsThis = isSynchronized && !isStatic;
        int count = Math.max(local + 1, needsThis ? 1 : 0);
        Object[] locals = new Object[count];
        Arrays.fill(locals, TOP);
        if (local >= 0) {
            locals[local] = "java/lang/Object";
        }
        if (needsThis) {
            locals[0] = "java/lang/Object";
        }
        Object[] stack = {"java/lang/Throwable"};
        return new FrameNode(F_NEW, count, locals, 1, stack);
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
                : new VarInsnNode(ALOAD, 0);
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
