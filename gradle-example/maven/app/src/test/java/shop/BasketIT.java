package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Run by Failsafe. */
class BasketIT {
    @Test
    void childrenAtWeekends() {
        assertEquals(70, new Basket().add(8, true).total());
    }
}
