/** Redefined last, with a class-file version that no JVM accepts, so that no redefinition ever takes effect. */
final class Poison {
    private Poison() {}
}
