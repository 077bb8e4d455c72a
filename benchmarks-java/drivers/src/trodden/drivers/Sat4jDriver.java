package trodden.drivers;

import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.sat4j.core.VecInt;
import org.sat4j.minisat.SolverFactory;
import org.sat4j.specs.ISolver;

/** Satisfiability by SAT4J: random formulas of three literals each, near the threshold, and a pigeonhole. */
final class Sat4jDriver extends Driver {
    private static final int FORMULAS = 24;
    private static final int VARIABLES = 150;
    private static final int CLAUSES = 639;
    private static final int HOLES = 8;

    public static void main(String[] args) throws Exception {
        new Sat4jDriver().drive(args);
    }

    @Override
    String name() {
        return "sat4j";
    }

    @Override
    void prepare(List<Path> inputs) {}

    @Override
    void iterate() throws Exception {
        Random random = new Random(42);
        int satisfiable = 0;
        for (int formula = 0; formula < FORMULAS; formula++) {
            ISolver solver = SolverFactory.newDefault();
            solver.setTimeout(3600);
            solver.newVar(VARIABLES);
            int[][] clauses = new int[CLAUSES][3];
            for (int[] clause : clauses) {
                for (int at = 0; at < 3; at++) {
                    int variable = 1 + random.nextInt(VARIABLES);
                    clause[at] = random.nextBoolean() ? variable : -variable;
                }
                solver.addClause(new VecInt(clause.clone()));
            }
            boolean found = solver.isSatisfiable();
            if (found) {
                satisfiable++;
                int[] model = solver.model();
                for (int[] clause : clauses) {
                    require(holds(clause, model), "a clause does not hold");
                }
            }
            add(found ? 1 : 0);
        }
        add(satisfiable);
        require(!pigeons(), "more pigeons than holes");
    }

    private static boolean holds(int[] clause, int[] model) {
        for (int literal : clause) {
            int at = Math.abs(literal) - 1;
            if (at < model.length && model[at] == literal) {
                return true;
            }
        }
        return false;
    }

    private static boolean pigeons() throws Exception {
        ISolver solver = SolverFactory.newDefault();
        solver.setTimeout(3600);
        solver.newVar((HOLES + 1) * HOLES);
        for (int pigeon = 0; pigeon <= HOLES; pigeon++) {
            int[] somewhere = new int[HOLES];
            for (int hole = 0; hole < HOLES; hole++) {
                somewhere[hole] = 1 + pigeon * HOLES + hole;
            }
            solver.addClause(new VecInt(somewhere));
        }
        for (int hole = 0; hole < HOLES; hole++) {
            for (int one = 0; one <= HOLES; one++) {
                for (int other = 0; other < one; other++) {
                    solver.addClause(new VecInt(new int[] {-(1 + one * HOLES + hole), -(1 + other * HOLES + hole)}));
                }
            }
        }
        return solver.isSatisfiable();
    }
}
