import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * A Java agent that makes classes log every branch, jump, exit and handler they run through. It knows nothing
 * of path numbers: it is the independent second opinion that Trodden's exact counters are compared with.
 *
 * <p>Every logged event carries the number of its activation, kept in a fresh local variable, so exceptional
 * exits and recursion need no bookkeeping. Methods with jsr/ret and methods that would become too large are
 * left alone.
 */
public final class Oracle implements ClassFileTransformer {
    private final String prefix;
    private int methods;

    private Oracle(String prefix) {
        this.prefix = prefix;
    }

    /** Argument: {@code FILE,PREFIX}: where to log to, and what the names of the classes to log begin with. */
    public static void premain(String argument, Instrumentation instrumentation) throws Exception {
        int comma = argument.lastIndexOf(',');
        OracleLog.open(argument.substring(0, comma));
        instrumentation.addTransformer(new Oracle(argument.substring(comma + 1)));
    }

    @Override
    public synchronized byte[] transform(
            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (loader == null || name == null || !name.startsWith(prefix)) {
            return null;
        }
        Set<String> tooLarge = new HashSet<>();
        while (true) {
            try {
                return rewrite(bytes, tooLarge);
            } catch (MethodTooLargeException e) {
                tooLarge.add(e.getMethodName() + e.getDescriptor());
            } catch (Throwable e) {
                System.err.println("oracle: cannot rewrite " + name);
                e.printStackTrace();
                return null;
            }
        }
    }

    private byte[] rewrite(byte[] bytes, Set<String> tooLarge) throws Exception {
        OffsetReader reader = new OffsetReader(bytes);
        ClassNode node = new ClassNode(Opcodes.ASM9) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String desc, String signature, String[] ex) {
                MethodNode method = new OffsetMethod(reader, access, name, desc, signature, ex);
                methods.add(method);
                return method;
            }
        };
        reader.accept(node, ClassReader.EXPAND_FRAMES);
        List<MethodNode> done = new ArrayList<>();
        int first = methods;
        for (MethodNode method : node.methods) {
            boolean wanted = method.instructions.size() > 0
                    && !usesSubroutines(method)
                    && !tooLarge.contains(method.name + method.desc);
            if (wanted) {
                new Rewriter((OffsetMethod) method, first + done.size()).run();
                done.add(method);
            }
        }
        ClassWriter writer = new ClassWriter(0);
        node.accept(writer);
        byte[] result = writer.toByteArray();
        for (MethodNode method : done) {
            OracleLog.method(methods++, node.name, method.name, method.desc);
        }
        return result;
    }

    private static boolean usesSubroutines(MethodNode method) {
        for (AbstractInsnNode insn : method.instructions) {
            if (insn.getOpcode() == Opcodes.JSR || insn.getOpcode() == Opcodes.RET) {
                return true;
            }
        }
        return false;
    }

    /** A reader that knows the offset of the instruction being visited. */
    private static final class OffsetReader extends ClassReader {
        int offset;

        OffsetReader(byte[] bytes) {
            super(bytes);
        }

        @Override
        protected void readBytecodeInstructionOffset(int bytecodeOffset) {
            offset = bytecodeOffset;
        }
    }

    /** A method whose instructions remember their bytecode indices. */
    private static final class OffsetMethod extends MethodNode {
        final OffsetReader reader;
        final Map<AbstractInsnNode, Integer> bci = new HashMap<>();

        OffsetMethod(OffsetReader reader, int access, String name, String desc, String signature, String[] ex) {
            super(Opcodes.ASM9, access, name, desc, signature, ex);
            this.reader = reader;
        }

        private void tag() {
            bci.put(instructions.getLast(), reader.offset);
        }

        @Override
        public void visitInsn(int opcode) {
            super.visitInsn(opcode);
            tag();
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            super.visitIntInsn(opcode, operand);
            tag();
        }

        @Override
        public void visitVarInsn(int opcode, int index) {
            super.visitVarInsn(opcode, index);
            tag();
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            super.visitTypeInsn(opcode, type);
            tag();
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String desc) {
            super.visitFieldInsn(opcode, owner, name, desc);
            tag();
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String desc, boolean itf) {
            super.visitMethodInsn(opcode, owner, name, desc, itf);
            tag();
        }

        @Override
        public void visitInvokeDynamicInsn(
                String name, String desc, org.objectweb.asm.Handle bootstrap, Object... arguments) {
            super.visitInvokeDynamicInsn(name, desc, bootstrap, arguments);
            tag();
        }

        @Override
        public void visitJumpInsn(int opcode, org.objectweb.asm.Label label) {
            super.visitJumpInsn(opcode, label);
            tag();
        }

        @Override
        public void visitLdcInsn(Object value) {
            super.visitLdcInsn(value);
            tag();
        }

        @Override
        public void visitIincInsn(int index, int increment) {
            super.visitIincInsn(index, increment);
            tag();
        }

        @Override
        public void visitTableSwitchInsn(
                int min, int max, org.objectweb.asm.Label dflt, org.objectweb.asm.Label... labels) {
            super.visitTableSwitchInsn(min, max, dflt, labels);
            tag();
        }

        @Override
        public void visitLookupSwitchInsn(
                org.objectweb.asm.Label dflt, int[] keys, org.objectweb.asm.Label[] labels) {
            super.visitLookupSwitchInsn(dflt, keys, labels);
            tag();
        }

        @Override
        public void visitMultiANewArrayInsn(String desc, int dimensions) {
            super.visitMultiANewArrayInsn(desc, dimensions);
            tag();
        }
    }

    /** Puts the log calls into one method. */
    private static final class Rewriter {
        final OffsetMethod method;
        final int id;
        final int local;
        final InsnList code;
        final InsnList trampolines = new InsnList();

        Rewriter(OffsetMethod method, int id) {
            this.method = method;
            this.id = id;
            this.local = method.maxLocals;
            this.code = method.instructions;
        }

        void run() {
            Set<LabelNode> handlers = new HashSet<>();
            for (TryCatchBlockNode block : method.tryCatchBlocks) {
                handlers.add(block.handler);
            }
            Set<LabelNode> targets = new HashSet<>(handlers);
            List<AbstractInsnNode> original = new ArrayList<>();
            for (AbstractInsnNode insn : code) {
                original.add(insn);
                targets.addAll(targetsOf(insn));
            }
            for (AbstractInsnNode insn : original) {
                if (insn instanceof FrameNode frame) {
                    addLocal(frame);
                }
            }
            for (AbstractInsnNode insn : original) {
                if (insn instanceof JumpInsnNode jump) {
                    jump(jump);
                } else if (insn instanceof TableSwitchInsnNode s) {
                    Map<LabelNode, LabelNode> via = new LinkedHashMap<>();
                    s.dflt = select(insn, s.dflt, via);
                    s.labels.replaceAll(label -> select(insn, label, via));
                } else if (insn instanceof LookupSwitchInsnNode s) {
                    Map<LabelNode, LabelNode> via = new LinkedHashMap<>();
                    s.dflt = select(insn, s.dflt, via);
                    s.labels.replaceAll(label -> select(insn, label, via));
                } else if (leaves(insn.getOpcode())) {
                    code.insertBefore(insn, log("leave", bci(insn)));
                } else if (insn instanceof LabelNode label && targets.contains(label)) {
                    label(label, handlers.contains(label));
                }
            }
            InsnList enter = new InsnList();
            enter.add(push(id));
            enter.add(call("enter", "(I)I"));
            enter.add(new VarInsnNode(Opcodes.ISTORE, local));
            code.insert(enter);
            code.add(trampolines);
            method.maxLocals += 1;
            method.maxStack += 3;
        }

        private void label(LabelNode label, boolean handler) {
            AbstractInsnNode previous = realBefore(label);
            boolean runsInto = previous == null || method.bci.containsKey(previous) && !endsBlock(previous);
            if (runsInto && previous != null) {
                code.insert(previous, log("fall", bci(realAfter(label))));
            }
            if (handler) {
                AbstractInsnNode first = realAfter(label);
                InsnList log = log("handler", bci(first));
                code.insertBefore(first, log);
            }
        }

        private void jump(JumpInsnNode jump) {
            int bci = bci(jump);
            if (jump.getOpcode() == Opcodes.GOTO) {
                code.insertBefore(jump, log("jump", bci));
                return;
            }
            code.insert(jump, log("branch", bci, 0));
            jump.label = trampoline(jump.label, log("branch", bci, 1));
        }

        private LabelNode select(AbstractInsnNode insn, LabelNode target, Map<LabelNode, LabelNode> via) {
            return via.computeIfAbsent(target, t -> trampoline(t, log("select", bci(insn), bci(realAfter(t)))));
        }

        private LabelNode trampoline(LabelNode target, InsnList log) {
            LabelNode start = new LabelNode();
            trampolines.add(start);
            for (AbstractInsnNode n = target.getNext(); n != null && n.getOpcode() < 0; n = n.getNext()) {
                if (n instanceof FrameNode frame) {
                    trampolines.add(new FrameNode(
                            Opcodes.F_NEW,
                            frame.local.size(),
                            frame.local.toArray(),
                            frame.stack.size(),
                            frame.stack.toArray()));
                    break;
                }
            }
            trampolines.add(log);
            trampolines.add(new JumpInsnNode(Opcodes.GOTO, target));
            return start;
        }

        private void addLocal(FrameNode frame) {
            List<Object> locals = new ArrayList<>(frame.local);
            int size = 0;
            for (Object type : locals) {
                size += type == Opcodes.LONG || type == Opcodes.DOUBLE ? 2 : 1;
            }
            for (; size < local; size++) {
                locals.add(Opcodes.TOP);
            }
            locals.add(Opcodes.INTEGER);
            frame.local = locals;
        }

        private InsnList log(String name, int... arguments) {
            InsnList list = new InsnList();
            list.add(new VarInsnNode(Opcodes.ILOAD, local));
            for (int argument : arguments) {
                list.add(push(argument));
            }
            list.add(call(name, "(I" + "I".repeat(arguments.length) + ")V"));
            return list;
        }

        private int bci(AbstractInsnNode insn) {
            return method.bci.get(insn);
        }

        /** The last original instruction before a label; null at the method's start. */
        private AbstractInsnNode realBefore(AbstractInsnNode insn) {
            AbstractInsnNode n = insn.getPrevious();
            while (n != null && !method.bci.containsKey(n)) {
                n = n.getPrevious();
            }
            return n;
        }

        /** The first original instruction after a label. */
        private AbstractInsnNode realAfter(AbstractInsnNode insn) {
            AbstractInsnNode n = insn.getNext();
            while (!method.bci.containsKey(n)) {
                n = n.getNext();
            }
            return n;
        }

        private static boolean endsBlock(AbstractInsnNode insn) {
            return insn instanceof JumpInsnNode
                    || insn instanceof TableSwitchInsnNode
                    || insn instanceof LookupSwitchInsnNode
                    || leaves(insn.getOpcode());
        }

        private static boolean leaves(int opcode) {
            return opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN || opcode == Opcodes.ATHROW;
        }

        private static List<LabelNode> targetsOf(AbstractInsnNode insn) {
            List<LabelNode> targets = new ArrayList<>();
            if (insn instanceof JumpInsnNode jump) {
                targets.add(jump.label);
            } else if (insn instanceof TableSwitchInsnNode s) {
                targets.addAll(s.labels);
                targets.add(s.dflt);
            } else if (insn instanceof LookupSwitchInsnNode s) {
                targets.addAll(s.labels);
                targets.add(s.dflt);
            }
            return targets;
        }

        private static AbstractInsnNode push(int value) {
            if (value >= -1 && value <= 5) {
                return new InsnNode(Opcodes.ICONST_0 + value);
            }
            if (value == (short) value) {
                return new IntInsnNode(Opcodes.SIPUSH, value);
            }
            return new LdcInsnNode(value);
        }

        private static MethodInsnNode call(String name, String descriptor) {
            return new MethodInsnNode(Opcodes.INVOKESTATIC, "OracleLog", name, descriptor, false);
        }
    }
}
