// target calls=Wide farBackwards:0:4 locals:0:6 iinc:0:5 branchBeforeNew:0:5 atTheLimit:0:4 overTheLimit:0:4 nearlyFull:0:4 longSwitch:-1:5
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Large methods, many locals, wide instructions, uninitialised objects across branches. */
final class WideGenerator implements Opcodes {
    public static void main(String[] arguments) throws Exception {
        new Gen(arguments[0], "Wide", V17, true)
                .method("farBackwards", m -> far(m, 1, 40_000))
                .method("locals", WideGenerator::locals)
                .method("iinc", WideGenerator::iinc)
                .method("branchBeforeNew", WideGenerator::branchBeforeNew)
                .method("atTheLimit", m -> far(m, 50, 7_700))
                .method("overTheLimit", m -> far(m, 60, 7_970))
                .method("nearlyFull", m -> far(m, 70, 65_490))
                .method("longSwitch", WideGenerator::longSwitch)
                .write();
    }
    // ASM writes goto_w and inverts the branch over it; a method beyond 8,000 bytes is never compiled, probes or not.
    // expect @50 taken=5 not-taken=10
    // expect @20 taken=4 not-taken=3
    // expect @30 taken=6 not-taken=6
    // expect @40 taken=3 not-taken=3
    // expect @80 switch 0=1 1=1 2=1 3=1 default=3

    /** while (x > 0) { `bytes` bytes of nothing; x--; } return x; */
    static void far(MethodVisitor m, int line, int bytes) {
        Label head = new Label();
        Label out = new Label();
        m.visitLabel(head);
        Gen.test(m, line, IF_ICMPLE, 0, out);
        m.visitIincInsn(0, -1);
        for (int i = 0; i < bytes; i++) {
            m.visitInsn(NOP);
        }
        m.visitJumpInsn(GOTO, head);
        m.visitLabel(out);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
    }

    // 300 ints, then longs and doubles behind them, all alive across a branch: every access is wide.
    static void locals(MethodVisitor m) {
        for (int i = 1; i <= 300; i++) {
            m.visitVarInsn(ILOAD, 0);
            m.visitVarInsn(ISTORE, i);
        }
        m.visitLdcInsn(5L);
        m.visitVarInsn(LSTORE, 301);
        m.visitLdcInsn(2.5);
        m.visitVarInsn(DSTORE, 303);
        Label odd = new Label();
        Gen.line(m, 20);
        m.visitVarInsn(ILOAD, 300);
        m.visitInsn(ICONST_1);
        m.visitInsn(IAND);
        m.visitJumpInsn(IFEQ, odd);
        m.visitIincInsn(299, 1000);
        m.visitLabel(odd);
        m.visitVarInsn(LLOAD, 301);
        m.visitInsn(L2I);
        m.visitVarInsn(DLOAD, 303);
        m.visitInsn(D2I);
        m.visitInsn(IADD);
        m.visitVarInsn(ILOAD, 299);
        m.visitInsn(IADD);
        m.visitInsn(IRETURN);
    }

    static void iinc(MethodVisitor m) {
        Label head = new Label();
        Label out = new Label();
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(ICONST_2);
        m.visitInsn(IDIV);
        m.visitVarInsn(ISTORE, 256);
        m.visitLabel(head);
        Gen.line(m, 30);
        m.visitVarInsn(ILOAD, 256);
        m.visitJumpInsn(IFLE, out);
        m.visitIincInsn(256, -1);
        m.visitIincInsn(0, 30_000);
        m.visitJumpInsn(GOTO, head);
        m.visitLabel(out);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
    }

    // new StringBuilder, then a branch while the object is on the stack and uninitialised, then its constructor.
    static void branchBeforeNew(MethodVisitor m) {
        Label other = new Label();
        Label join = new Label();
        m.visitTypeInsn(NEW, "java/lang/StringBuilder");
        m.visitInsn(DUP);
        Gen.test(m, 40, IF_ICMPGE, 3, other);
        m.visitLdcInsn("small");
        m.visitJumpInsn(GOTO, join);
        m.visitLabel(other);
        m.visitLdcInsn("larger");
        m.visitLabel(join);
        m.visitMethodInsn(INVOKESPECIAL, "java/lang/StringBuilder", "<init>", "(Ljava/lang/String;)V", false);
        m.visitMethodInsn(INVOKEVIRTUAL, "java/lang/StringBuilder", "length", "()I", false);
        m.visitInsn(IRETURN);
    }

    // Switch padding at every alignment: the same switch behind 0 to 3 more bytes.
    static void longSwitch(MethodVisitor m) {
        Label dflt = new Label();
        Label[] labels = {new Label(), new Label(), new Label(), new Label()};
        m.visitVarInsn(ILOAD, 0);
        Gen.line(m, 80);
        m.visitTableSwitchInsn(0, 3, dflt, labels);
        for (int i = 0; i < labels.length; i++) {
            m.visitLabel(labels[i]);
            Label a = new Label();
            Label b = new Label();
            for (int k = 0; k <= i; k++) {
                m.visitInsn(NOP);
            }
            m.visitVarInsn(ILOAD, 0);
            Gen.line(m, 81 + i);
            m.visitLookupSwitchInsn(b, new int[] {i, 1000}, new Label[] {a, b});
            m.visitLabel(a);
            m.visitIntInsn(BIPUSH, 10 + i);
            m.visitInsn(IRETURN);
            m.visitLabel(b);
            m.visitInsn(ICONST_M1);
            m.visitInsn(IRETURN);
        }
        m.visitLabel(dflt);
        m.visitIntInsn(SIPUSH, 999);
        m.visitInsn(IRETURN);
    }
}
