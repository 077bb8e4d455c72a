package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class PriceTest {
    @Test
    public void children() {
        assertEquals(50, Price.of(8, false));
    }

    @Test
    public void weekends() {
        assertEquals(120, Price.of(30, true));
    }

    @Test
    public void sells() {
        Main.main(new String[0]);
    }
}
