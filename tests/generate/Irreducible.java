// target calls=Irreducible twoEntries:0:9 gotoZero:3:12 parallel:0:3 dead:0:3 handlerLoop:0:5 handlerIsTarget:0:5 spin:0:4
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Control flow that javac never produces. */
final class IrreducibleGenerator implements Opcodes {
    public static void main(String[] arguments) throws Exception {
        new Gen(arguments[0], "Irreducible", V17, true)
                .method("twoEntries", IrreducibleGenerator::twoEntries)
                .method("gotoZero", IrreducibleGenerator::gotoZero)
                .method("parallel", IrreducibleGenerator::parallel)
                .method("dead", IrreducibleGenerator::dead)
                .method("handlerLoop", IrreducibleGenerator::handlerLoop)
                .method("handlerIsTarget", IrreducibleGenerator::handlerIsTarget)
                .method("spin", IrreducibleGenerator::spin)
                .write();
    }

    // A loop of two blocks, a and b, that can be entered at either.
    // expect @1 taken=5 not-taken=5
    // expect @3 taken=10 not-taken=9
    // expect @4 taken=10 not-taken=0
    static void twoEntries(MethodVisitor m) {
        Label a = new Label();
        Label b = new Label();
        Label out = new Label();
        Label end = new Label();
        Gen.test(m, 1, IF_ICMPGE, 5, b);
        m.visitLabel(a);
        Gen.line(m, 2);
        m.visitIincInsn(0, 2);
        m.visitLabel(b);
        Gen.test(m, 3, IF_ICMPGT, 6, out);
        m.visitIincInsn(0, 1);
        m.visitJumpInsn(GOTO, a);
        m.visitLabel(out);
        Gen.test(m, 4, IF_ICMPGE, 0, end);
        m.visitInsn(ICONST_M1);
        m.visitInsn(IRETURN);
        m.visitLabel(end);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
    }

    // The method's very first instruction is a branch target, so there is a frame at offset 0.
    static void gotoZero(MethodVisitor m) {
        Label start = new Label();
        Label out = new Label();
        m.visitLabel(start);
        Gen.test(m, 10, IF_ICMPLT, 3, out);
        m.visitIincInsn(0, -3);
        m.visitJumpInsn(GOTO, start);
        m.visitLabel(out);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
    }
    // expect path gotoZero entry -> header@10 = 10
    // expect path gotoZero header@10 10:not-taken -> header@10 = 22
    // expect path gotoZero header@10 10:taken -> return@10 = 10

    // Both outcomes of a branch, and all of a switch, lead to the same place.
    static void parallel(MethodVisitor m) {
        Label same = new Label();
        Label end = new Label();
        Gen.test(m, 20, IF_ICMPGT, 1, same);
        m.visitLabel(same);
        m.visitVarInsn(ILOAD, 0);
        Gen.line(m, 21);
        m.visitTableSwitchInsn(0, 1, end, end, end);
        m.visitLabel(end);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
    }
    // expect @20 taken=2 not-taken=2
    // expect @21 switch 0|1|default=4

    // Code that nothing reaches (COMPUTE_FRAMES turns it into nop … athrow).
    static void dead(MethodVisitor m) {
        Label one = new Label();
        Gen.test(m, 30, IF_ICMPEQ, 0, one);
        m.visitInsn(ICONST_2);
        m.visitInsn(IRETURN);
        m.visitLabel(one);
        m.visitInsn(ICONST_1);
        m.visitInsn(IRETURN);
        m.visitIincInsn(0, 1);
        m.visitInsn(ICONST_3);
        m.visitInsn(IRETURN);
    }
    // expect @30 taken=1 not-taken=3

    // A handler that covers itself, and a loop made by an exception edge.
    static void handlerLoop(MethodVisitor m) {
        Label start = new Label();
        Label end = new Label();
        Label handler = new Label();
        Label out = new Label();
        m.visitTryCatchBlock(start, end, handler, "java/lang/ArithmeticException");
        m.visitInsn(ICONST_0);
        m.visitVarInsn(ISTORE, 1);
        m.visitInsn(ACONST_NULL);
        m.visitLabel(start);
        m.visitLabel(handler);
        m.visitInsn(POP);
        m.visitIincInsn(1, 1);
        Gen.line(m, 40);
        m.visitVarInsn(ILOAD, 1);
        m.visitVarInsn(ILOAD, 0);
        m.visitJumpInsn(IF_ICMPGT, out);
        m.visitInsn(ICONST_1);
        m.visitInsn(ICONST_0);
        m.visitInsn(IDIV);
        m.visitInsn(IRETURN);
        m.visitLabel(end);
        m.visitLabel(out);
        m.visitVarInsn(ILOAD, 1);
        m.visitInsn(IRETURN);
    }

    // A handler that is also jumped to and run into.
    static void handlerIsTarget(MethodVisitor m) {
        Label start = new Label();
        Label end = new Label();
        Label handler = new Label();
        Label other = new Label();
        m.visitTryCatchBlock(start, end, handler, null);
        m.visitLabel(start);
        Gen.test(m, 50, IF_ICMPLT, 2, other);
        m.visitIntInsn(BIPUSH, 12);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(ICONST_3);
        m.visitInsn(ISUB);
        m.visitInsn(IDIV);
        m.visitInsn(POP);
        m.visitLabel(end);
        m.visitInsn(ACONST_NULL);
        m.visitLabel(handler);
        Gen.line(m, 51);
        Label yes = new Label();
        m.visitJumpInsn(IFNULL, yes);
        m.visitInsn(ICONST_1);
        m.visitInsn(IRETURN);
        m.visitLabel(yes);
        m.visitInsn(ICONST_2);
        m.visitInsn(IRETURN);
        m.visitLabel(other);
        m.visitInsn(ACONST_NULL);
        m.visitJumpInsn(GOTO, handler);
    }
    // expect @50 taken=2 not-taken=3
    // expect @51 taken=5 not-taken=1

    // A branch to itself through an empty block, with something on the operand stack.
    static void spin(MethodVisitor m) {
        Label again = new Label();
        m.visitIntInsn(BIPUSH, 100);
        m.visitLabel(again);
        m.visitIincInsn(0, -1);
        Gen.test(m, 60, IF_ICMPGE, 0, again);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IADD);
        m.visitInsn(IRETURN);
    }
    // expect @60 taken=10 not-taken=5
}
