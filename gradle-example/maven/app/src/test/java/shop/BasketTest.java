package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class BasketTest {
    @Test
    void sums() {
        assertEquals(170, new Basket().add(8, false).add(30, true).total());
    }

    @Test
    void empty() {
        assertEquals(0, new Basket().total());
    }
}
