// target calls=OldVersions45 v45:0:4
// target calls=OldVersions46 v46:0:4
// target calls=OldVersions47 v47:0:4
// target calls=OldVersions48 v48:0:4
// target calls=OldVersions49 v49:0:4
// target calls=OldVersions50 v50:0:4 framed50:0:4
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Class files without frames, and methods with jsr/ret, of every version that may have them. */
final class OldVersionsGenerator implements Opcodes {
    public static void main(String[] arguments) throws Exception {
        int[] versions = {V1_1, V1_2, V1_3, V1_4, V1_5, V1_6};
        for (int i = 0; i < versions.length; i++) {
            int number = 45 + i;
            int line = number * 10;
            // Methods with jsr are in classes of their own, so that the others are what they are alone.
            new Gen(arguments[0], "OldVersions" + number, versions[i], false)
                    .method("v" + number, m -> plain(m, line, "OldVersions" + number + "Jsr"))
                    .method("framed" + number, m -> plain(m, line + 5, null))
                    .write();
            new Gen(arguments[0], "OldVersions" + number + "Jsr", versions[i], false)
                    .method("jsr", OldVersionsGenerator::subroutine)
                    .write();
        }
    }
    // expect @450 taken=5 not-taken=10
    // expect @460 taken=5 not-taken=10
    // expect @470 taken=5 not-taken=10
    // expect @480 taken=5 not-taken=10
    // expect @490 taken=5 not-taken=10
    // expect @500 taken=5 not-taken=10
    // expect @505 taken=5 not-taken=10
    // expect skipped OldVersions45Jsr.jsr uses jsr/ret
    // expect skipped OldVersions50Jsr.jsr uses jsr/ret

    // for (; x > 0; x--) sum += x; then, if there is one, through the subroutine of another class.
    static void plain(MethodVisitor m, int line, String jsr) {
        Label head = new Label();
        Label out = new Label();
        m.visitInsn(ICONST_0);
        m.visitVarInsn(ISTORE, 1);
        m.visitLabel(head);
        Gen.test(m, line, IF_ICMPLE, 0, out);
        m.visitVarInsn(ILOAD, 1);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IADD);
        m.visitVarInsn(ISTORE, 1);
        m.visitIincInsn(0, -1);
        m.visitJumpInsn(GOTO, head);
        m.visitLabel(out);
        m.visitVarInsn(ILOAD, 1);
        if (jsr != null) {
            m.visitMethodInsn(INVOKESTATIC, jsr, "jsr", "(I)I", false);
        }
        m.visitInsn(IRETURN);
    }

    // A finally block in the manner of old compilers: two calls of one subroutine, and a branch inside.
    static void subroutine(MethodVisitor m) {
        Label sub = new Label();
        Label skip = new Label();
        Label big = new Label();
        Gen.test(m, 1, IF_ICMPGT, 5, big);
        m.visitJumpInsn(JSR, sub);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(IRETURN);
        m.visitLabel(big);
        m.visitJumpInsn(JSR, sub);
        m.visitVarInsn(ILOAD, 0);
        m.visitInsn(INEG);
        m.visitInsn(IRETURN);
        m.visitLabel(sub);
        m.visitVarInsn(ASTORE, 1);
        Gen.test(m, 2, IF_ICMPLT, 3, skip);
        m.visitIincInsn(0, 100);
        m.visitLabel(skip);
        m.visitVarInsn(RET, 1);
    }
}
