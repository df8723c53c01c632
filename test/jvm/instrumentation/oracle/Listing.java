package instrumentation.oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.TypePath;
import org.objectweb.asm.tree.MethodNode;

/** All that a method's code has, one thing a line. */
final class Listing extends MethodVisitor {
    private final List<String> lines = new ArrayList<>();
    private final Map<Label, Integer> positions = new IdentityHashMap<>();
    private final List<Runnable> pending = new ArrayList<>();
    private int position;

    private Listing() {
        super(Opcodes.ASM9);
    }

    static List<String> of(MethodNode method) {
        Listing listing = new Listing();
        method.accept(listing);
        // Labels by what they stand before: where they are is known at the end only.
        for (Runnable line : listing.pending) {
            line.run();
        }
        return listing.lines;
    }

    private void add(Object... parts) {
        pending.add(
                () -> {
                    StringBuilder line = new StringBuilder();
                    for (Object part : parts) {
                        line.append(text(part)).append(' ');
                    }
                    lines.add(line.toString());
                });
    }

    private String text(Object part) {
        if (part instanceof Label) {
            return "L" + positions.get(part);
        }
        if (part instanceof Object[]) {
            StringBuilder text = new StringBuilder("[");
            for (Object element : (Object[]) part) {
                text.append(text(element)).append(',');
            }
            return text.append(']').toString();
        }
        return String.valueOf(part);
    }

    private void instruction(Object... parts) {
        add(position + ":", (Object) parts);
        position++;
    }

    @Override
    public void visitLabel(Label label) {
        positions.put(label, position);
    }

    @Override
    public void visitInsn(int opcode) {
        instruction(opcode);
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
        instruction(opcode, operand);
    }

    @Override
    public void visitVarInsn(int opcode, int local) {
        instruction(opcode, local);
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        instruction(opcode, type);
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
        instruction(opcode, owner, name, descriptor);
    }

    @Override
    public void visitMethodInsn(
            int opcode, String owner, String name, String descriptor, boolean isInterface) {
        instruction(opcode, owner, name, descriptor, isInterface);
    }

    @Override
    public void visitInvokeDynamicInsn(
            String name, String descriptor, Handle bootstrap, Object... arguments) {
        instruction("invokedynamic", name, descriptor, bootstrap, arguments);
    }

    @Override
    public void visitJumpInsn(int opcode, Label label) {
        instruction(opcode, label);
    }

    @Override
    public void visitLdcInsn(Object value) {
        instruction("ldc", value.getClass().getName(), value);
    }

    @Override
    public void visitIincInsn(int local, int increment) {
        instruction("iinc", local, increment);
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
        instruction("tableswitch", min, max, otherwise, labels);
    }

    @Override
    public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
        instruction("lookupswitch", otherwise, Arrays.toString(keys), labels);
    }

    @Override
    public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
        instruction("multianewarray", descriptor, dimensions);
    }

    @Override
    public void visitFrame(int type, int localCount, Object[] locals, int stackCount, Object[] stack) {
        add(
                "frame at " + position,
                Arrays.copyOf(locals, localCount),
                Arrays.copyOf(stack, stackCount));
    }

    @Override
    public void visitLineNumber(int line, Label start) {
        add("line", line, start);
    }

    @Override
    public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
        add("handler", start, end, handler, type);
    }

    @Override
    public void visitLocalVariable(
            String name, String descriptor, String signature, Label start, Label end, int index) {
        add("local", name, descriptor, signature, start, end, index);
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
        add("stack", maxStack, "locals", maxLocals);
    }

    @Override
    public AnnotationVisitor visitInsnAnnotation(
            int type, TypePath path, String descriptor, boolean visible) {
        add("annotation of " + (position - 1), type, path, descriptor, visible);
        return null;
    }

    @Override
    public AnnotationVisitor visitTryCatchAnnotation(
            int type, TypePath path, String descriptor, boolean visible) {
        add("annotation of handler", type, path, descriptor, visible);
        return null;
    }

    @Override
    public AnnotationVisitor visitLocalVariableAnnotation(
            int type,
            TypePath path,
            Label[] start,
            Label[] end,
            int[] index,
            String descriptor,
            boolean visible) {
        String indices = Arrays.toString(index);
        add("annotation of local", type, path, start, end, indices, descriptor, visible);
        return null;
    }
}
