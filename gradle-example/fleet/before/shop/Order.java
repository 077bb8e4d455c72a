package shop;

/** What somebody bought. */
record Order(int customer, int[] items, int coupon, boolean express, boolean abroad) {
}
