package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OrderTest {
    @Test
    void onesAndTwos() {
        assertEquals(4, Order.price(3, false));
    }

    @Test
    void manyOrders() {
        int sum = 0;
        for (int order = 0; order < 3_000; order++) {
            sum += Order.price(order % 50, order % 2 == 0);
        }
        assertTrue(sum > 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void membersPayNoMore(int quantity) {
        assertTrue(Order.price(quantity, true) <= Order.price(quantity, false));
    }

    @Test
    void whatIsThrownIsCountedUpToThere() {
        assertThrows(NullPointerException.class, () -> Order.price((Integer) null, true));
    }
}
