package instrumentation.oracle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Writes a class with blocks as compilers other than javac write them: {@code instrumentation.Shapes}.
 * Each method locks its first parameter, runs the second one, and returns 1, or 2 if it has caught an
 * exception.
 */
final class Shapes implements Opcodes {
    private static final String PARAMETERS = "(Ljava/lang/Object;Ljava/lang/Runnable;)I";
    private static final int LOCK = 3;
    private static final int THROWN = 4;

    private final MethodVisitor code;

    private Shapes(ClassWriter writer, int access, String name) {
        code = writer.visitMethod(ACC_PUBLIC | access, name, PARAMETERS, null, null);
        code.visitCode();
        code.visitLineNumber(1, mark());
    }

    public static void main(String[] arguments) throws IOException {
        ClassWriter writer =
                new ClassWriter(ClassWriter.COMPUTE_FRAMES) {
                    @Override
                    protected String getCommonSuperClass(String one, String other) {
                        return "java/lang/Object";
                    }
                };
        String[] interfaces = {"instrumentation/Exits$Shape"};
        writer.visit(V1_8, ACC_PUBLIC, "instrumentation/Shapes", null, "java/lang/Object", interfaces);
        MethodVisitor constructor = writer.visitMethod(ACC_PUBLIC, "<init>", "()V", null, null);
        constructor.visitCode();
        constructor.visitVarInsn(ALOAD, 0);
        constructor.visitMethodInsn(INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
        constructor.visitInsn(RETURN);
        constructor.visitMaxs(0, 0);
        new Shapes(writer, 0, "kotlin").kotlin();
        new Shapes(writer, 0, "scala").scala();
        new Shapes(writer, 0, "clojure").clojure();
        new Shapes(writer, 0, "shared").shared();
        new Shapes(writer, ACC_SYNCHRONIZED, "proguard").proguard();
        Path file = Paths.get(arguments[0], "instrumentation", "Shapes.class");
        Files.write(file, writer.toByteArray());
    }

    /** An inline function: code stands between the end of a range and the release. */
    private void kotlin() {
        enter(LOCK);
        Label[] body = body();
        call();
        exit(LOCK);
        result(1);
        Label handler = mark();
        code.visitVarInsn(ASTORE, THROWN);
        Label stored = mark();
        call();
        exit(LOCK);
        code.visitVarInsn(ALOAD, THROWN);
        code.visitInsn(ATHROW);
        handle(body, handler, null);
        handle(new Label[] {handler, stored}, handler, null);
        end();
    }

    /** The range of the block ends before the release, the range of a {@code catch} has all of it. */
    private void scala() {
        Label start = mark();
        enter(LOCK);
        Label[] body = body();
        exit(LOCK);
        result(1);
        Label handler = mark();
        exit(LOCK);
        code.visitInsn(ATHROW);
        Label end = mark();
        code.visitInsn(POP);
        result(2);
        handle(body, handler, null);
        handle(new Label[] {start, end}, end, "java/lang/RuntimeException");
        end();
    }

    /** Variables are cleared by their last use. */
    private void clojure() {
        enter(LOCK);
        Label[] body = body();
        clearAndExit(LOCK);
        result(1);
        Label handler = mark();
        code.visitVarInsn(ASTORE, THROWN);
        clearAndExit(LOCK);
        code.visitVarInsn(ALOAD, THROWN);
        code.visitInsn(ATHROW);
        handle(body, handler, null);
        end();
    }

    /** One release for several ways, with the object on the stack. */
    private void shared() {
        Label release = new Label();
        Label other = new Label();
        enter(LOCK);
        Label[] body = body();
        code.visitVarInsn(ALOAD, 2);
        code.visitJumpInsn(IFNULL, other);
        code.visitVarInsn(ALOAD, LOCK);
        code.visitJumpInsn(GOTO, release);
        code.visitLabel(other);
        code.visitVarInsn(ALOAD, LOCK);
        code.visitLabel(release);
        code.visitInsn(MONITOREXIT);
        result(1);
        Label handler = mark();
        code.visitVarInsn(ASTORE, THROWN);
        exit(LOCK);
        code.visitVarInsn(ALOAD, THROWN);
        code.visitInsn(ATHROW);
        handle(body, handler, null);
        end();
    }

    /** The variable of {@code this} is used for something else, within an enclosing handler. */
    private void proguard() {
        code.visitInsn(LCONST_0);
        code.visitVarInsn(LSTORE, 5);
        Label start = mark();
        enter(0);
        Label[] body = body();
        clearAndExit(0);
        result(1);
        Label handler = mark();
        exit(0);
        code.visitInsn(ATHROW);
        Label end = mark();
        code.visitInsn(POP);
        result(2);
        handle(body, handler, null);
        handle(new Label[] {start, end}, end, "java/lang/RuntimeException");
        end();
    }

    private Label mark() {
        Label label = new Label();
        code.visitLabel(label);
        return label;
    }

    private void enter(int local) {
        code.visitVarInsn(ALOAD, 1);
        code.visitVarInsn(ASTORE, local);
        code.visitVarInsn(ALOAD, local);
        code.visitInsn(MONITORENTER);
    }

    /** Returns its begin and end. */
    private Label[] body() {
        Label start = mark();
        code.visitVarInsn(ALOAD, 2);
        code.visitMethodInsn(INVOKEINTERFACE, "java/lang/Runnable", "run", "()V", true);
        return new Label[] {start, mark()};
    }

    private void call() {
        code.visitMethodInsn(INVOKESTATIC, "java/lang/System", "nanoTime", "()J", false);
        code.visitInsn(POP2);
    }

    private void exit(int local) {
        code.visitVarInsn(ALOAD, local);
        code.visitInsn(MONITOREXIT);
    }

    private void clearAndExit(int local) {
        code.visitVarInsn(ALOAD, local);
        code.visitInsn(ACONST_NULL);
        code.visitVarInsn(ASTORE, local);
        code.visitInsn(MONITOREXIT);
    }

    private void result(int value) {
        code.visitInsn(ICONST_0 + value);
        code.visitInsn(IRETURN);
    }

    private void handle(Label[] range, Label handler, String type) {
        code.visitTryCatchBlock(range[0], range[1], handler, type);
    }

    private void end() {
        code.visitMaxs(0, 0);
        code.visitEnd();
    }
}
