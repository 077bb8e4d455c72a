package trodden.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * How much more work a test may do than in the base of {@code trodden gate compare}, in executed bytecode
 * instructions. At a class it holds for all of its tests that say nothing themselves. It goes before {@code
 * --fail-on}. Without Trodden it has no effect.
 *
 * <pre>{@code
 * @Test
 * @Gate(maxGrowth = "0.5%")
 * void ordersAreCheap() { … }
 * }</pre>
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
public @interface Gate {
    /** A percentage: {@code "0.5%"}; {@code "0%"} allows no more instruction than before. */
    String maxGrowth();
}
