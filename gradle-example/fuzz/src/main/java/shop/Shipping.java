package shop;

/**
 * What it costs to send a parcel. Each rule is right by itself, and all of them have been tested alone; three faults are in what several rules
 * do together.
 */
public final class Shipping {
    private Shipping() {
    }

    /** A parcel as it comes from the till: 16 bytes. */
    public static int price(byte[] parcel) {
        if (parcel.length < 16) {
            return 0;
        }
        return perParcel(parcel) + perKilo(parcel) + insurance(parcel);
    }

    /** Wrong where three rules meet: 900 / 0. */
    private static int perParcel(byte[] parcel) {
        int share = 31;
        if (parcel[0] == 'E') {
            share -= 16; // express
        }
        if (parcel[1] == 'A') {
            share -= 10; // abroad
        }
        if (parcel[2] == 'M') {
            share -= 5; // a member's
        }
        return 900 / share;
    }

    /** Wrong where six rules meet: no such zone. */
    private static int perKilo(byte[] parcel) {
        int zone = 0;
        if (parcel[3] > 90) {
            zone += 1; // heavy
        }
        if (parcel[4] == 'N') {
            zone += 2; // north
        }
        if (parcel[5] == 'I') {
            zone += 4; // an island
        }
        if (parcel[6] < -90) {
            zone += 8; // cold
        }
        if (parcel[7] == 'W') {
            zone += 16; // at the week's end
        }
        if (parcel[8] == 'B') {
            zone += 32; // bulky
        }
        return ZONES[zone];
    }

    private static final int[] ZONES = new int[63];

    /** Wrong for one of 512 ways to apply nine rules: 100 / 0. */
    private static int insurance(byte[] parcel) {
        int risk = 502;
        if (parcel[9] == 'F') {
            risk -= 1; // fragile
        }
        if (parcel[10] == 'G') {
            risk -= 2; // glass
        }
        if (parcel[11] > 100) {
            risk -= 4; // dear
        }
        if (parcel[12] == 'S') {
            risk -= 8; // by sea
        }
        if (parcel[13] == 'R') {
            risk -= 16; // may come back
        }
        if ((parcel[9] ^ parcel[14]) == 5) {
            risk -= 32; // two of a kind
        }
        if (parcel[14] == 'E') {
            risk -= 64; // sealed
        }
        if (parcel[15] < -100) {
            risk -= 128; // old
        }
        if ((parcel[10] + parcel[15] & 7) == 5) {
            risk -= 256; // by night
        }
        return 100 / risk + (risk & 1);
    }
}
