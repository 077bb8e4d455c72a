import java.io.PrintStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/**
 * A Java agent that counts executed bytecode instructions, block by block, and knows nothing of paths: at the begin of each basic
 * block it adds one to a counter. The second opinion on what `trodden gate` counts. Prints the sum per method when the JVM ends,
 * and how many of all instructions made an object or arrays ({@code =new}).
 */
public final class BlockCounter implements ClassFileTransformer {
    private final String prefix;

    private BlockCounter(String prefix) {
        this.prefix = prefix;
    }

    /** Argument: {@code FILE,PREFIX}: where the sums go, and what the names of the classes to count begin with. */
    public static void premain(String argument, Instrumentation instrumentation) throws Exception {
        int comma = argument.lastIndexOf(',');
        String file = argument.substring(0, comma);
        instrumentation.addTransformer(new BlockCounter(argument.substring(comma + 1)));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Counts.write(file)));
    }

    @Override
    public synchronized byte[] transform(
            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (loader == null || name == null || !name.startsWith(prefix)) {
            return null;
        }
        try {
            ClassNode node = new ClassNode();
            new ClassReader(bytes).accept(node, 0);
            for (MethodNode method : node.methods) {
                if (method.instructions.size() > 0) {
                    count(node.name, method);
                }
            }
            // Frames stay where they are, unchanged: a call without results changes no local and no stack.
            ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
            node.accept(writer);
            return writer.toByteArray();
        } catch (Throwable e) {
            System.err.println("counter: cannot rewrite " + name);
            e.printStackTrace();
            return null;
        }
    }

    private static void count(String owner, MethodNode method) {
        Set<LabelNode> targets = new HashSet<>();
        for (TryCatchBlockNode handler : method.tryCatchBlocks) {
            targets.add(handler.handler);
        }
        for (AbstractInsnNode insn : method.instructions) {
            if (insn instanceof JumpInsnNode jump) {
                targets.add(jump.label);
            } else if (insn instanceof TableSwitchInsnNode s) {
                targets.addAll(s.labels);
                targets.add(s.dflt);
            } else if (insn instanceof LookupSwitchInsnNode s) {
                targets.addAll(s.labels);
                targets.add(s.dflt);
            }
        }
        boolean begins = true;
        int block = -1;
        for (AbstractInsnNode insn : method.instructions.toArray()) {
            if (insn instanceof LabelNode label && targets.contains(label)) {
                begins = true;
            }
            if (insn.getOpcode() < 0) {
                continue;
            }
            if (begins) {
                block = Counts.block(owner + "." + method.name + method.desc);
                InsnList hit = new InsnList();
                hit.add(new LdcInsnNode(block));
                hit.add(new MethodInsnNode(Opcodes.INVOKESTATIC, "BlockCounter$Counts", "hit", "(I)V", false));
                method.instructions.insertBefore(insn, hit);
                begins = false;
            }
            int opcode = insn.getOpcode();
            boolean makes = opcode == Opcodes.NEW || opcode == Opcodes.NEWARRAY || opcode == Opcodes.ANEWARRAY
                    || opcode == Opcodes.MULTIANEWARRAY;
            Counts.length(block, makes);
            begins = insn instanceof JumpInsnNode
                    || insn instanceof TableSwitchInsnNode
                    || insn instanceof LookupSwitchInsnNode
                    || opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN
                    || opcode == Opcodes.ATHROW;
        }
        for (AbstractInsnNode insn : method.instructions.toArray()) {
            if (insn instanceof FrameNode frame) {
                frame.local = exact(method.instructions, frame.local);
                frame.stack = exact(method.instructions, frame.stack);
            }
        }
    }

    /** Frames name an object that is not yet made by its `new`; where that begins a block, there is a call before it now. */
    private static List<Object> exact(InsnList code, List<Object> types) {
        if (types == null) {
            return null;
        }
        List<Object> exact = new ArrayList<>(types);
        exact.replaceAll(type -> {
            if (!(type instanceof LabelNode label)) {
                return type;
            }
            AbstractInsnNode made = label;
            while (made.getOpcode() != Opcodes.NEW) {
                made = made.getNext();
            }
            LabelNode before = new LabelNode();
            code.insertBefore(made, before);
            return before;
        });
        return exact;
    }

    /** Counters of all blocks. */
    public static final class Counts {
        private static final int CHUNK = 1 << 12;
        private static final AtomicLong[][] counts = new AtomicLong[CHUNK][];
        private static final int[] lengths = new int[CHUNK * CHUNK];
        private static final int[] made = new int[CHUNK * CHUNK];
        private static final String[] methods = new String[CHUNK * CHUNK];
        private static int blocks;

        static synchronized int block(String method) {
            if (blocks % CHUNK == 0) {
                AtomicLong[] chunk = new AtomicLong[CHUNK];
                for (int i = 0; i < CHUNK; i++) {
                    chunk[i] = new AtomicLong();
                }
                counts[blocks / CHUNK] = chunk;
            }
            methods[blocks] = method;
            return blocks++;
        }

        static void length(int block, boolean makes) {
            lengths[block]++;
            made[block] += makes ? 1 : 0;
        }

        /** Called by the code that is counted. */
        public static void hit(int block) {
            counts[block / CHUNK][block % CHUNK].incrementAndGet();
        }

        static synchronized void write(String file) {
            Map<String, Long> sums = new TreeMap<>();
            long allocations = 0;
            for (int i = 0; i < blocks; i++) {
                long count = counts[i / CHUNK][i % CHUNK].get();
                sums.merge(methods[i], count * lengths[i], Long::sum);
                allocations += count * made[i];
            }
            try (PrintStream out = new PrintStream(file, StandardCharsets.UTF_8)) {
                sums.forEach((method, sum) -> {
                    if (sum > 0) {
                        out.println(sum + " " + method);
                    }
                });
                out.println(allocations + " =new");
            } catch (Exception e) {
                e.printStackTrace();
            }
        }
    }
}
