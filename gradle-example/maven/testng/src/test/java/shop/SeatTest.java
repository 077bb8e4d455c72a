package shop;

import org.testng.Assert;
import org.testng.annotations.Test;

public class SeatTest {
    @Test
    public void front() {
        Assert.assertEquals(Seat.row(3), 'A');
    }
}
