import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.tools.*;

/**
 * All conditions of Java sources, as javac's own parser sees them: one line each, `file TAB kind TAB first line TAB
 * last line TAB text`. Operands of `&&`, `||` and `?:` are listed separately. What no branch is made of may be among
 * them; what a branch may be made of is.
 */
public class Conditions extends TreeScanner<Void, Void> {
    private final PrintStream out;
    private final String file;
    private final CompilationUnitTree unit;
    private final SourcePositions positions;
    private final String text;

    private Conditions(PrintStream out, String file, CompilationUnitTree unit, Trees trees) throws IOException {
        this.out = out;
        this.file = file;
        this.unit = unit;
        this.positions = trees.getSourcePositions();
        this.text = unit.getSourceFile().getCharContent(true).toString();
    }

    public static void main(String[] args) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(args[0])), false, StandardCharsets.UTF_8)) {
            for (String root : List.of(args).subList(1, args.length)) {
                List<Path> files;
                try (Stream<Path> walk = Files.walk(Path.of(root))) {
                    files = walk.filter(p -> p.toString().endsWith(".java")
                            && !p.getFileName().toString().contains("-info")).sorted().collect(Collectors.toList());
                }
                StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
                JavacTask task = (JavacTask) compiler.getTask(null, manager, d -> { }, List.of("-proc:none"), null,
                        manager.getJavaFileObjectsFromPaths(files));
                for (CompilationUnitTree unit : task.parse()) {
                    String name = Path.of(root).relativize(Path.of(unit.getSourceFile().toUri())).toString();
                    new Conditions(out, name, unit, Trees.instance(task)).scan(unit, null);
                }
            }
        }
    }

    private void put(String kind, Tree from, Tree to, String content) {
        LineMap lines = unit.getLineMap();
        Tree begin = statement == null ? from : statement;
        Tree end = statement == null ? to : statement;
        long first = lines.getLineNumber(positions.getStartPosition(unit, begin));
        long last = lines.getLineNumber(Math.max(0, positions.getEndPosition(unit, end) - 1));
        out.println(file + "\t" + kind + "\t" + first + "\t" + last + "\t" + content.replaceAll("\\s+", " "));
    }

    private String source(Tree tree) {
        int start = (int) positions.getStartPosition(unit, tree);
        int end = (int) positions.getEndPosition(unit, tree);
        return start < 0 || end < start ? "" : text.substring(start, end)
                .replaceAll("(?s)/\\*.*?\\*/", " ").replaceAll("//[^\n\"]*\n", "\n");
    }

    private static ExpressionTree bare(ExpressionTree tree) {
        while (tree instanceof ParenthesizedTree) {
            tree = ((ParenthesizedTree) tree).getExpression();
        }
        return tree;
    }

    /** The statement that is being scanned: javac gives comparisons within it no line of their own. */
    private Tree statement;

    @Override public Void scan(Tree tree, Void v) {
        Tree outer = statement;
        if (tree instanceof StatementTree && !(tree instanceof BlockTree) && !(tree instanceof ClassTree)) {
            statement = tree instanceof ExpressionStatementTree || tree instanceof VariableTree
                    || tree instanceof ReturnTree || tree instanceof ThrowTree || tree instanceof AssertTree
                    ? tree : null;
        }
        super.scan(tree, v);
        statement = outer;
        return null;
    }

    /** The operands of a condition; each may have a branch on any line of the whole. */
    private void split(String kind, ExpressionTree tree) {
        split(kind, tree, tree);
    }

    private void split(String kind, ExpressionTree tree, Tree whole) {
        ExpressionTree bare = bare(tree);
        switch (bare.getKind()) {
            case CONDITIONAL_AND:
            case CONDITIONAL_OR:
                split(kind, ((BinaryTree) bare).getLeftOperand(), whole);
                split(kind, ((BinaryTree) bare).getRightOperand(), whole);
                break;
            case CONDITIONAL_EXPRESSION:
                split(kind, ((ConditionalExpressionTree) bare).getCondition(), whole);
                split(kind, ((ConditionalExpressionTree) bare).getTrueExpression(), whole);
                split(kind, ((ConditionalExpressionTree) bare).getFalseExpression(), whole);
                break;
            case LOGICAL_COMPLEMENT:
                ExpressionTree inner = bare(((UnaryTree) bare).getExpression());
                Tree.Kind of = inner.getKind();
                if (of == Tree.Kind.CONDITIONAL_AND || of == Tree.Kind.CONDITIONAL_OR
                        || of == Tree.Kind.CONDITIONAL_EXPRESSION) {
                    split("not-" + kind, inner, whole);
                } else {
                    put(kind, whole, whole, source(bare));
                }
                break;
            default:
                put(kind, whole, whole, source(bare));
        }
    }

    @Override public Void visitIf(IfTree tree, Void v) {
        split("if", tree.getCondition());
        return super.visitIf(tree, v);
    }

    @Override public Void visitWhileLoop(WhileLoopTree tree, Void v) {
        split("while", tree.getCondition());
        return super.visitWhileLoop(tree, v);
    }

    @Override public Void visitDoWhileLoop(DoWhileLoopTree tree, Void v) {
        split("do", tree.getCondition());
        return super.visitDoWhileLoop(tree, v);
    }

    @Override public Void visitForLoop(ForLoopTree tree, Void v) {
        if (tree.getCondition() != null) {
            split("for", tree.getCondition());
        }
        return super.visitForLoop(tree, v);
    }

    @Override public Void visitEnhancedForLoop(EnhancedForLoopTree tree, Void v) {
        put("foreach", tree.getVariable(), tree.getExpression(),
                tree.getVariable().getName() + " : " + source(tree.getExpression()));
        return super.visitEnhancedForLoop(tree, v);
    }

    @Override public Void visitConditionalExpression(ConditionalExpressionTree tree, Void v) {
        split("value", tree.getCondition());
        return super.visitConditionalExpression(tree, v);
    }

    @Override public Void visitAssert(AssertTree tree, Void v) {
        split("assert", tree.getCondition());
        return super.visitAssert(tree, v);
    }

    @Override public Void visitSwitch(SwitchTree tree, Void v) {
        ExpressionTree over = bare(tree.getExpression());
        put("switch", over, over, source(over));
        return super.visitSwitch(tree, v);
    }

    @Override public Void visitSwitchExpression(SwitchExpressionTree tree, Void v) {
        ExpressionTree over = bare(tree.getExpression());
        put("switch", over, over, source(over));
        return super.visitSwitchExpression(tree, v);
    }

    @Override public Void visitBinary(BinaryTree tree, Void v) {
        switch (tree.getKind()) {
            case CONDITIONAL_AND: case CONDITIONAL_OR: case EQUAL_TO: case NOT_EQUAL_TO:
            case LESS_THAN: case GREATER_THAN: case LESS_THAN_EQUAL: case GREATER_THAN_EQUAL:
                split("value", tree);
                break;
            default:
        }
        return super.visitBinary(tree, v);
    }

    @Override public Void visitUnary(UnaryTree tree, Void v) {
        if (tree.getKind() == Tree.Kind.LOGICAL_COMPLEMENT) {
            split("value", tree);
        }
        return super.visitUnary(tree, v);
    }
}
