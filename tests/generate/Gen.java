import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Code that the generators of class files share. A generated class has methods {@code static int NAME(int)}, run by Driver. */
final class Gen implements Opcodes {
    final ClassWriter writer;
    private final Path out;
    private final String name;

    /** A class {@code name} of version {@code version}; frames are computed if {@code frames}. */
    Gen(String out, String name, int version, boolean frames) {
        this.out = Path.of(out);
        this.name = name;
        writer = new ClassWriter(frames ? ClassWriter.COMPUTE_FRAMES : ClassWriter.COMPUTE_MAXS);
        writer.visit(version, ACC_PUBLIC | ACC_SUPER, name, null, "java/lang/Object", null);
        writer.visitSource(name + ".generated", null);
    }

    /** Adds a method {@code static int name(int)}. */
    Gen method(String method, Consumer<MethodVisitor> body) {
        MethodVisitor m = writer.visitMethod(ACC_PUBLIC | ACC_STATIC, method, "(I)I", null, null);
        m.visitCode();
        body.accept(m);
        m.visitMaxs(0, 0);
        m.visitEnd();
        return this;
    }

    void write() throws IOException {
        writer.visitEnd();
        Files.write(out.resolve(name + ".class"), writer.toByteArray());
    }

    /** Gives the following code the source line {@code line}. */
    static void line(MethodVisitor m, int line) {
        Label here = new Label();
        m.visitLabel(here);
        m.visitLineNumber(line, here);
    }

    /** {@code if (local 0 OPCODE constant) goto target}, on a line. */
    static void test(MethodVisitor m, int line, int opcode, int constant, Label target) {
        line(m, line);
        m.visitVarInsn(ILOAD, 0);
        m.visitIntInsn(SIPUSH, constant);
        m.visitJumpInsn(opcode, target);
    }
}
