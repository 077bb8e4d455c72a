package pairs;

import java.util.ArrayDeque;

/** Walks through mazes; most of its work is loops in main and one method. */
public class Grid {
    private static final int SIDE = 96;

    public static void main(String[] args) {
        boolean timed = args[0].equals("time");
        long end = timed ? System.nanoTime() + (long) (Double.parseDouble(args[1]) * 1e9) : 0;
        int rounds = timed ? Integer.MAX_VALUE : Integer.parseInt(args[1]);
        long seed = 5;
        long sum = 0;
        int[] heights = new int[SIDE * SIDE];
        for (int round = 0; round < rounds && !(timed && System.nanoTime() >= end); round++) {
            for (int cell = 0; cell < heights.length; cell++) {
                seed = seed * 6364136223846793005L + 1442695040888963407L;
                heights[cell] = (int) (seed >>> 60);
            }
            for (int pass = 0; pass < 3; pass++) {
                for (int cell = SIDE; cell < heights.length - SIDE; cell++) {
                    int around = heights[cell - 1] + heights[cell + 1] + heights[cell - SIDE] + heights[cell + SIDE];
                    if (around > 4 * heights[cell] + 8) {
                        heights[cell]++;
                    }
                }
            }
            sum += reached(heights, 9);
        }
        System.out.println(sum != 0 ? "grid done" : "grid did nothing");
    }

    static int reached(int[] heights, int highest) {
        boolean[] seen = new boolean[heights.length];
        ArrayDeque<Integer> open = new ArrayDeque<>();
        open.add(0);
        seen[0] = true;
        int count = 0;
        while (!open.isEmpty()) {
            int cell = open.poll();
            count++;
            for (int way = 0; way < 4; way++) {
                int next = neighbour(cell, way);
                if (next >= 0 && !seen[next] && heights[next] <= highest) {
                    seen[next] = true;
                    open.add(next);
                }
            }
        }
        return count;
    }

    static int neighbour(int cell, int way) {
        int x = cell % SIDE;
        int y = cell / SIDE;
        switch (way) {
            case 0:
                return x == 0 ? -1 : cell - 1;
            case 1:
                return x == SIDE - 1 ? -1 : cell + 1;
            case 2:
                return y == 0 ? -1 : cell - SIDE;
            default:
                return y == SIDE - 1 ? -1 : cell + SIDE;
        }
    }
}
