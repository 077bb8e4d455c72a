package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PriceTest {
    @Test
    void children() {
        assertEquals(50, Price.of(8, false));
    }

    @ParameterizedTest
    @ValueSource(ints = {12, 30, 99})
    void weekends(int age) {
        assertEquals(120, Price.of(age, true));
    }
}
