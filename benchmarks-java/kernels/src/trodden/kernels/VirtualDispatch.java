package trodden.kernels;

/** Evaluates random expression trees through an interface with seven implementations: megamorphic calls. */
final class VirtualDispatch implements Kernel {
    private static final int TREES = 40;
    private static final int DEPTH = 12;
    private static final int INPUTS = 60;

    private interface Node {
        int value(int x);
    }

    private record Constant(int constant) implements Node {
        @Override
        public int value(int x) {
            return constant;
        }
    }

    private record Variable() implements Node {
        @Override
        public int value(int x) {
            return x;
        }
    }

    private record Sum(Node left, Node right) implements Node {
        @Override
        public int value(int x) {
            return left.value(x) + right.value(x);
        }
    }

    private record Product(Node left, Node right) implements Node {
        @Override
        public int value(int x) {
            return left.value(x) * right.value(x);
        }
    }

    private record Choice(Node condition, Node yes, Node no) implements Node {
        @Override
        public int value(int x) {
            return condition.value(x) > 0 ? yes.value(x) : no.value(x);
        }
    }

    private record Negation(Node of) implements Node {
        @Override
        public int value(int x) {
            return -of.value(x);
        }
    }

    private record Maximum(Node left, Node right) implements Node {
        @Override
        public int value(int x) {
            int a = left.value(x);
            int b = right.value(x);
            return a < b ? b : a;
        }
    }

    private final Node[] trees = trees();

    @Override
    public String name() {
        return "dispatch";
    }

    @Override
    public long run() {
        long sum = 0;
        for (Node tree : trees) {
            for (int x = 0; x < INPUTS; x++) {
                sum = Checks.mix(sum, tree.value(x - INPUTS / 2));
            }
        }
        return sum;
    }

    /** The same trees walked by one method that asks for each node's class. */
    @Override
    public long expected() {
        long sum = 0;
        for (Node tree : trees) {
            for (int x = 0; x < INPUTS; x++) {
                sum = Checks.mix(sum, walk(tree, x - INPUTS / 2));
            }
        }
        return sum;
    }

    private static int walk(Node node, int x) {
        if (node instanceof Constant c) {
            return c.constant;
        } else if (node instanceof Variable) {
            return x;
        } else if (node instanceof Sum s) {
            return walk(s.left, x) + walk(s.right, x);
        } else if (node instanceof Product p) {
            return walk(p.left, x) * walk(p.right, x);
        } else if (node instanceof Choice c) {
            return walk(c.condition, x) > 0 ? walk(c.yes, x) : walk(c.no, x);
        } else if (node instanceof Negation n) {
            return -walk(n.of, x);
        } else if (node instanceof Maximum m) {
            return Math.max(walk(m.left, x), walk(m.right, x));
        }
        throw new IllegalStateException("unknown node " + node);
    }

    private static Node[] trees() {
        Rng random = new Rng(14);
        Node[] trees = new Node[TREES];
        for (int i = 0; i < TREES; i++) {
            trees[i] = tree(random, DEPTH);
        }
        return trees;
    }

    private static Node tree(Rng random, int depth) {
        if (depth == 0) {
            return random.nextInt(2) == 0 ? new Variable() : new Constant(random.nextInt(19) - 9);
        }
        int below = depth - 1;
        return switch (random.nextInt(8)) {
            case 0, 1 -> new Sum(tree(random, below), tree(random, below));
            case 2, 3 -> new Product(tree(random, below), tree(random, below));
            case 4, 5 -> new Choice(tree(random, below), tree(random, below), tree(random, below));
            case 6 -> new Negation(tree(random, below));
            default -> new Maximum(tree(random, below), tree(random, below));
        };
    }
}
