package scenarios;

/** Has a constant that HotSpot doubles at each change of the class, and waits until the program's input has a line. */
public final class NanConstant {
    private double last = Double.NaN;

    private NanConstant() {}

    public static void main(String[] args) throws Exception {
        NanConstant constant = new NanConstant();
        constant.set(constant.last);
        System.out.println("running");
        System.in.read();
        System.out.println("done");
    }

    private synchronized void set(double value) {
        last = value + Double.NaN;
    }
}
