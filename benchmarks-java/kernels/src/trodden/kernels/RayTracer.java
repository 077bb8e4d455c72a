package trodden.kernels;

/** Spheres over a chequered floor, one lamp, shadows and mirrors. */
final class RayTracer implements Kernel {
    private static final int WIDTH = 800;
    private static final int HEIGHT = 600;
    private static final int SPHERES = 48;
    private static final int DEPTH = 4;
    private static final double NEAR = 1e-6;
    /** Recorded from the first verified run. */
    private static final long EXPECTED = 0x9845f3bd006edd91L;

    private record Vec(double x, double y, double z) {
        Vec plus(Vec o) {
            return new Vec(x + o.x, y + o.y, z + o.z);
        }

        Vec minus(Vec o) {
            return new Vec(x - o.x, y - o.y, z - o.z);
        }

        Vec times(double f) {
            return new Vec(x * f, y * f, z * f);
        }

        double dot(Vec o) {
            return x * o.x + y * o.y + z * o.z;
        }

        Vec unit() {
            return times(1 / Math.sqrt(dot(this)));
        }
    }

    private record Sphere(Vec centre, double radius, double shade, double mirror) {
        /** Distance along the ray, or infinity. */
        double hit(Vec from, Vec direction) {
            Vec to = centre.minus(from);
            double along = to.dot(direction);
            double squared = radius * radius - (to.dot(to) - along * along);
            if (squared < 0) {
                return Double.POSITIVE_INFINITY;
            }
            double half = Math.sqrt(squared);
            if (along - half > NEAR) {
                return along - half;
            }
            return along + half > NEAR ? along + half : Double.POSITIVE_INFINITY;
        }
    }

    private final Sphere[] scene = scene();
    private final Vec lamp = new Vec(-30, 60, -40);

    @Override
    public String name() {
        return "raytracer";
    }

    @Override
    public long run() {
        Vec eye = new Vec(0, 4, -18);
        long sum = 0;
        int[] histogram = new int[256];
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                Vec direction =
                        new Vec((x - WIDTH / 2.0) / WIDTH, (HEIGHT / 2.0 - y) / WIDTH - 0.1, 1).unit();
                int grey = (int) Math.min(255, 255 * trace(eye, direction, DEPTH));
                histogram[grey]++;
                sum = Checks.mix(sum, grey);
            }
        }
        int shades = 0;
        for (int count : histogram) {
            shades += count > 0 ? 1 : 0;
        }
        Checks.require(shades > 100, "the picture is empty");
        return sum;
    }

    @Override
    public long expected() {
        return EXPECTED;
    }

    private double trace(Vec from, Vec direction, int depth) {
        double nearest = Double.POSITIVE_INFINITY;
        Sphere found = null;
        for (Sphere sphere : scene) {
            double distance = sphere.hit(from, direction);
            if (distance < nearest) {
                nearest = distance;
                found = sphere;
            }
        }
        double floor = direction.y < 0 ? -from.y / direction.y : Double.POSITIVE_INFINITY;
        if (floor > NEAR && floor < nearest) {
            Vec point = from.plus(direction.times(floor));
            boolean dark = ((long) Math.floor(point.x / 2) + (long) Math.floor(point.z / 2) & 1) == 0;
            return lit(point, new Vec(0, 1, 0)) * (dark ? 0.3 : 0.9);
        }
        if (found == null) {
            return 0.2 + 0.5 * Math.max(0, direction.y);
        }
        Vec point = from.plus(direction.times(nearest));
        Vec normal = point.minus(found.centre).times(1 / found.radius);
        double light = found.shade * lit(point, normal);
        if (depth > 1 && found.mirror > 0) {
            Vec reflected = direction.minus(normal.times(2 * direction.dot(normal)));
            light += found.mirror * trace(point, reflected.unit(), depth - 1);
        }
        return light;
    }

    private double lit(Vec point, Vec normal) {
        Vec toLamp = lamp.minus(point).unit();
        double slope = normal.dot(toLamp);
        if (slope <= 0) {
            return 0.1;
        }
        for (Sphere sphere : scene) {
            if (sphere.hit(point, toLamp) < Double.POSITIVE_INFINITY) {
                return 0.1;
            }
        }
        return 0.1 + 0.9 * slope;
    }

    private static Sphere[] scene() {
        Rng random = new Rng(4);
        Sphere[] spheres = new Sphere[SPHERES];
        for (int i = 0; i < SPHERES; i++) {
            double radius = 0.5 + random.nextDouble();
            Vec centre = new Vec(16 * random.nextDouble() - 8, radius + 4 * random.nextDouble(), 14 * random.nextDouble());
            spheres[i] = new Sphere(centre, radius, 0.3 + 0.6 * random.nextDouble(), i % 3 == 0 ? 0.5 : 0);
        }
        return spheres;
    }
}
