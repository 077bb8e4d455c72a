module app {
    requires lib;
}
