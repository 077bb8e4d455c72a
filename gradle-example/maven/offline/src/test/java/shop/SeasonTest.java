package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class SeasonTest {
    @Test
    void seasons() {
        assertEquals(Season.SUMMER, Season.of(7));
        assertEquals(Season.WINTER, Season.of(1));
    }
}
