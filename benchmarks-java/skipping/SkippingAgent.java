import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
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
 * Prototypes of two ways to skip, to be measured beside Trodden's probes: {@code
 * -javaagent:skipping.jar=MODE,PREFIX}.
 *
 * <p>{@code blocks}: every basic block counts the thread's counter down (the paper's {@code enterBlock},
 * inline).
 *
 * <p>{@code copies}: two copies of each body, after Arnold and Ryder (PLDI 2001). The fast one counts down at
 * its entry and at its back edges, and goes over to the slow one when nothing is left to be passed over; the
 * slow one reports each block and goes back at a back edge after the sample's end.
 *
 * <p>{@code checks}: only the checks of {@code copies}, each with what it does out of line in place of a
 * second copy: what checks cost by themselves. {@code local}: the same with the counter in a local variable,
 * which is written back before each call and exit and read again after each call.
 *
 * <p>{@code none}: nothing. As with Trodden's probes, methods without a branch are left alone.
 */
public final class SkippingAgent implements ClassFileTransformer {
    private static final String SKIP = "Skip";
    /** HotSpot compiles nothing beyond. */
    private static final int HUGE = 8000;

    private static final AtomicInteger METHODS = new AtomicInteger();
    private static final AtomicInteger LEFT_ALONE = new AtomicInteger();
    private static final AtomicInteger NEXT_BLOCK = new AtomicInteger();

    private final String mode;
    private final String prefix;

    private SkippingAgent(String mode, String prefix) {
        this.mode = mode;
        this.prefix = prefix;
    }

    public static void premain(String arguments, Instrumentation instrumentation) {
        String[] parts = arguments.split(",");
        if (parts[0].equals("none")) {
            return;
        }
        Skip.mine();
        instrumentation.addTransformer(new SkippingAgent(parts[0], parts[1]));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.err.println("skipping: " + METHODS + " methods, "
                + LEFT_ALONE + " left alone, " + NEXT_BLOCK + " blocks in them; " + Skip.summary())));
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
        if (name == null || !name.startsWith(prefix)) {
            return null;
        }
        try {
            ClassNode node = new ClassNode();
            new ClassReader(bytes).accept(node, ClassReader.SKIP_FRAMES);
            for (MethodNode method : node.methods) {
                change(method);
            }
            ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_FRAMES) {
                @Override
                protected ClassLoader getClassLoader() {
                    return loader;
                }
            };
            node.accept(writer);
            return writer.toByteArray();
        } catch (RuntimeException | LinkageError e) {
            System.err.println("skipping: " + name + ": " + e);
            return null;
        }
    }

    private void change(MethodNode method) {
        boolean branches = false;
        for (AbstractInsnNode insn : method.instructions) {
            branches |= isSwitch(insn) || insn instanceof JumpInsnNode && insn.getOpcode() != Opcodes.GOTO;
        }
        if (!branches || method.name.equals("<init>")) {
            return;
        }
        // Two bytes an instruction, and a probe or its copy: a guess that errs on the safe side.
        if (mode.equals("copies") && method.instructions.size() * 6 > HUGE) {
            LEFT_ALONE.incrementAndGet();
            return;
        }
        METHODS.incrementAndGet();
        int local = method.maxLocals++;
        method.localVariables = null;
        method.visibleLocalVariableAnnotations = null;
        method.invisibleLocalVariableAnnotations = null;
        InsnList entry = new InsnList();
        entry.add(new MethodInsnNode(Opcodes.INVOKESTATIC, SKIP, "mine", "()LSkip;", false));
        entry.add(new VarInsnNode(Opcodes.ASTORE, local));
        switch (mode) {
            case "copies" -> twice(method, local);
            case "checks" -> checks(method, () -> blockProbe(local));
            case "local" -> {
                int count = method.maxLocals++;
                checks(method, () -> localProbe(local, count));
                for (AbstractInsnNode insn : method.instructions.toArray()) {
                    int code = insn.getOpcode();
                    boolean call = code >= Opcodes.INVOKEVIRTUAL && code <= Opcodes.INVOKEDYNAMIC
                            && !(insn instanceof MethodInsnNode invoke && invoke.owner.equals(SKIP));
                    if (call || code >= Opcodes.IRETURN && code <= Opcodes.RETURN || code == Opcodes.ATHROW) {
                        method.instructions.insertBefore(insn, write(local, count));
                    }
                    if (call) {
                        method.instructions.insert(insn, read(local, count));
                    }
                }
                // What an exception from a callee leaves behind.
                method.tryCatchBlocks.stream().map(handler -> handler.handler).distinct()
                        .forEach(handler -> method.instructions.insert(handler, read(local, count)));
                entry.add(read(local, count));
            }
            default -> {
                for (AbstractInsnNode leader : leaders(method.instructions, method.tryCatchBlocks)) {
                    method.instructions.insertBefore(leader, blockProbe(local));
                }
            }
        }
        method.instructions.insert(entry);
    }

    private static boolean isSwitch(AbstractInsnNode insn) {
        return insn instanceof TableSwitchInsnNode || insn instanceof LookupSwitchInsnNode;
    }

    private static List<LabelNode> targets(AbstractInsnNode insn) {
        List<LabelNode> all = new ArrayList<>();
        if (insn instanceof JumpInsnNode jump) {
            all.add(jump.label);
        } else if (insn instanceof TableSwitchInsnNode table) {
            all.addAll(table.labels);
            all.add(table.dflt);
        } else if (insn instanceof LookupSwitchInsnNode lookup) {
            all.addAll(lookup.labels);
            all.add(lookup.dflt);
        }
        return all;
    }

    /** The first instruction of each basic block. */
    private static List<AbstractInsnNode> leaders(InsnList code, List<TryCatchBlockNode> handlers) {
        Set<LabelNode> entered = new HashSet<>();
        for (AbstractInsnNode insn : code) {
            entered.addAll(targets(insn));
        }
        handlers.forEach(handler -> entered.add(handler.handler));
        List<AbstractInsnNode> leaders = new ArrayList<>();
        boolean begins = true;
        for (AbstractInsnNode insn : code) {
            if (insn instanceof LabelNode label) {
                begins |= entered.contains(label);
            } else if (insn.getOpcode() >= 0) {
                if (begins) {
                    leaders.add(insn);
                }
                begins = insn instanceof JumpInsnNode || isSwitch(insn);
            }
        }
        return leaders;
    }

    /** Counts down; the new value is left on the stack. */
    private static InsnList countDown(int local) {
        InsnList code = new InsnList();
        code.add(new VarInsnNode(Opcodes.ALOAD, local));
        code.add(new InsnNode(Opcodes.DUP));
        code.add(new FieldInsnNode(Opcodes.GETFIELD, SKIP, "left", "I"));
        code.add(new InsnNode(Opcodes.ICONST_1));
        code.add(new InsnNode(Opcodes.ISUB));
        code.add(new InsnNode(Opcodes.DUP_X1));
        code.add(new FieldInsnNode(Opcodes.PUTFIELD, SKIP, "left", "I"));
        return code;
    }

    private static InsnList report(int local) {
        InsnList code = new InsnList();
        code.add(new VarInsnNode(Opcodes.ALOAD, local));
        code.add(new LdcInsnNode(NEXT_BLOCK.getAndIncrement()));
        code.add(new MethodInsnNode(Opcodes.INVOKEVIRTUAL, SKIP, "block", "(I)V", false));
        return code;
    }

    private static InsnList blockProbe(int local) {
        LabelNode passed = new LabelNode();
        InsnList code = countDown(local);
        code.add(new JumpInsnNode(Opcodes.IFGT, passed));
        code.add(report(local));
        code.add(passed);
        return code;
    }

    private static InsnList read(int local, int count) {
        InsnList code = new InsnList();
        code.add(new VarInsnNode(Opcodes.ALOAD, local));
        code.add(new FieldInsnNode(Opcodes.GETFIELD, SKIP, "left", "I"));
        code.add(new VarInsnNode(Opcodes.ISTORE, count));
        return code;
    }

    private static InsnList write(int local, int count) {
        InsnList code = new InsnList();
        code.add(new VarInsnNode(Opcodes.ALOAD, local));
        code.add(new VarInsnNode(Opcodes.ILOAD, count));
        code.add(new FieldInsnNode(Opcodes.PUTFIELD, SKIP, "left", "I"));
        return code;
    }

    private static InsnList localProbe(int local, int count) {
        LabelNode passed = new LabelNode();
        InsnList code = new InsnList();
        code.add(new IincInsnNode(count, -1));
        code.add(new VarInsnNode(Opcodes.ILOAD, count));
        code.add(new JumpInsnNode(Opcodes.IFGT, passed));
        code.add(write(local, count));
        code.add(report(local));
        code.add(read(local, count));
        code.add(passed);
        return code;
    }

    /** A check at the entry and one at each back edge. */
    private static void checks(MethodNode method, java.util.function.Supplier<InsnList> check) {
        InsnList code = method.instructions;
        InsnList ends = new InsnList();
        for (AbstractInsnNode insn : code) {
            if (insn instanceof JumpInsnNode jump && code.indexOf(jump.label) <= code.indexOf(jump)) {
                LabelNode header = jump.label;
                ends.add(jump.label = new LabelNode());
                ends.add(check.get());
                ends.add(new JumpInsnNode(Opcodes.GOTO, header));
            }
        }
        code.insert(check.get());
        code.add(ends);
    }

    private static void twice(MethodNode method, int local) {
        InsnList fast = method.instructions;
        Map<LabelNode, LabelNode> twins = new HashMap<>();
        for (AbstractInsnNode insn : fast) {
            if (insn instanceof LabelNode label) {
                twins.put(label, new LabelNode());
            }
        }
        LabelNode slowStart = new LabelNode();
        InsnList slow = new InsnList();
        List<JumpInsnNode[]> back = new ArrayList<>();
        for (AbstractInsnNode insn : fast) {
            AbstractInsnNode twin = insn.clone(twins);
            slow.add(twin);
            if (insn instanceof JumpInsnNode jump && fast.indexOf(jump.label) <= fast.indexOf(jump)) {
                back.add(new JumpInsnNode[] {jump, (JumpInsnNode) twin});
            }
        }
        List<TryCatchBlockNode> handlers = new ArrayList<>();
        for (TryCatchBlockNode handler : method.tryCatchBlocks) {
            handlers.add(new TryCatchBlockNode(
                    twins.get(handler.start), twins.get(handler.end), twins.get(handler.handler), handler.type));
        }
        for (AbstractInsnNode leader : leaders(slow, handlers)) {
            slow.insertBefore(leader, report(local));
        }
        slow.insert(slowStart);
        InsnList ends = new InsnList();
        for (JumpInsnNode[] pair : back) {
            LabelNode header = pair[0].label;
            LabelNode twin = twins.get(header);
            // From the fast copy: on, or over to the slow one.
            ends.add(pair[0].label = new LabelNode());
            ends.add(countDown(local));
            ends.add(new JumpInsnNode(Opcodes.IFLE, twin));
            ends.add(new JumpInsnNode(Opcodes.GOTO, header));
            // From the slow copy: back, if the sample is complete.
            ends.add(pair[1].label = new LabelNode());
            ends.add(new VarInsnNode(Opcodes.ALOAD, local));
            ends.add(new FieldInsnNode(Opcodes.GETFIELD, SKIP, "left", "I"));
            ends.add(new JumpInsnNode(Opcodes.IFGT, header));
            ends.add(new JumpInsnNode(Opcodes.GOTO, twin));
        }
        InsnList check = countDown(local);
        check.add(new JumpInsnNode(Opcodes.IFLE, slowStart));
        fast.insert(check);
        fast.add(slow);
        fast.add(ends);
        method.tryCatchBlocks.addAll(handlers);
    }
}
