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
 * Prototype: a probed copy of each body, taken for whole activations. Argument {@code MODE:PREFIX} of class names; mode
 * {@code check} (the check at entry and no copy), {@code entries}, {@code loops} (the check on back edges of outermost loops too).
 * It writes no exact stack maps, so the JVM has to run without its verifier; see {@code runs/2026-11-23-probes-apart-jdk17}.
 */
public final class EntryAgent implements ClassFileTransformer {
    private static final String SKIP = "Armed";
    /** HotSpot compiles nothing beyond. */
    private static final int HUGE = 8000;

    private static final AtomicInteger METHODS = new AtomicInteger();
    private static final AtomicInteger LEFT_ALONE = new AtomicInteger();
    private static final AtomicInteger NEXT_BLOCK = new AtomicInteger();

    private final String mode;
    private final String prefix;

    private EntryAgent(String mode, String prefix) {
        this.mode = mode;
        this.prefix = prefix;
    }

    public static void premain(String arguments, Instrumentation instrumentation) {
        String[] parts = arguments.split("[,:]", -1);
        if (parts[0].equals("none")) {
            return;
        }
        Armed.start();
        instrumentation.addTransformer(new EntryAgent(parts[0], parts[1]));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.err.println("whole activations: " + METHODS + " methods, "
                + LEFT_ALONE + " left alone, " + NEXT_BLOCK + " blocks in them; " + Armed.summary())));
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
        if (name == null || loader == null || loader == ClassLoader.getPlatformClassLoader() || name.equals("Armed") || name.startsWith("org/objectweb/asm/tree") || !name.startsWith(prefix)) {
            return null;
        }
        try {
            ClassNode node = new ClassNode();
            new ClassReader(bytes).accept(node, ClassReader.SKIP_FRAMES);
            for (MethodNode method : node.methods) {
                change(method);
            }
            ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_FRAMES) {
                /** Looking for the right one would load classes while they are being loaded. Run without the verifier. */
                @Override
                protected String getCommonSuperClass(String one, String other) {
                    return "java/lang/Object";
                }
            };
            node.accept(writer);
            return writer.toByteArray();
        } catch (RuntimeException | LinkageError e) {
            System.err.println("whole activations: " + name + ": " + e);
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
        if (!mode.equals("check") && method.instructions.size() * 6 > HUGE) {
            LEFT_ALONE.incrementAndGet();
            return;
        }
        METHODS.incrementAndGet();
        method.localVariables = null;
        method.visibleLocalVariableAnnotations = null;
        method.invisibleLocalVariableAnnotations = null;
        if (mode.equals("check")) {
            LabelNode on = new LabelNode();
            InsnList check = armed(on, false);
            check.add(new MethodInsnNode(Opcodes.INVOKESTATIC, SKIP, "enter", "()V", false));
            check.add(on);
            method.instructions.insert(check);
        } else {
            twice(method);
        }
    }

    private static InsnList armed(LabelNode target, boolean when) {
        InsnList code = new InsnList();
        code.add(new FieldInsnNode(Opcodes.GETSTATIC, SKIP, "left", "I"));
        code.add(new JumpInsnNode(when ? Opcodes.IFNE : Opcodes.IFEQ, target));
        return code;
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

    private static InsnList report() {
        InsnList code = new InsnList();
        code.add(new LdcInsnNode(NEXT_BLOCK.getAndIncrement()));
        code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, SKIP, "block", "(I)V", false));
        return code;
    }

    private void twice(MethodNode method) {
        InsnList fast = method.instructions;
        Map<LabelNode, LabelNode> twins = new HashMap<>();
        for (AbstractInsnNode insn : fast) {
            if (insn instanceof LabelNode label) {
                twins.put(label, new LabelNode());
            }
        }
        LabelNode slowStart = new LabelNode();
        InsnList slow = new InsnList();
        List<JumpInsnNode> back = new ArrayList<>();
        for (AbstractInsnNode insn : fast) {
            slow.add(insn.clone(twins));
            if (insn instanceof JumpInsnNode jump && fast.indexOf(jump.label) <= fast.indexOf(jump)) {
                back.add(jump);
            }
        }
        List<TryCatchBlockNode> handlers = new ArrayList<>();
        for (TryCatchBlockNode handler : method.tryCatchBlocks) {
            handlers.add(new TryCatchBlockNode(
                    twins.get(handler.start), twins.get(handler.end), twins.get(handler.handler), handler.type));
        }
        for (AbstractInsnNode leader : leaders(slow, handlers)) {
            slow.insertBefore(leader, report());
        }
        slow.insert(new MethodInsnNode(Opcodes.INVOKESTATIC, SKIP, "enter", "()V", false));
        slow.insert(slowStart);
        InsnList ends = new InsnList();
        if (mode.equals("loops")) {
            for (JumpInsnNode jump : back) {
                int from = fast.indexOf(jump.label);
                int to = fast.indexOf(jump);
                boolean inner = back.stream().anyMatch(other -> other != jump && fast.indexOf(other) >= to
                        && originals.getOrDefault(other, fast.indexOf(other.label)) <= from);
                originals.put(jump, from);
                if (inner) {
                    continue;
                }
                LabelNode header = jump.label;
                ends.add(jump.label = new LabelNode());
                ends.add(armed(twins.get(header), true));
                ends.add(new JumpInsnNode(Opcodes.GOTO, header));
            }
            originals.clear();
        }
        fast.insert(armed(slowStart, true));
        fast.add(slow);
        fast.add(ends);
        method.tryCatchBlocks.addAll(handlers);
    }

    private final Map<JumpInsnNode, Integer> originals = new HashMap<>();
}
