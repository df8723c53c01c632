package jdk.internal.access;

/** What {@code VirtualParks} calls of the JDK's own interface, which JDK 8 does not have. */
public interface JavaLangAccess {
    void parkVirtualThread();

    void parkVirtualThread(long nanos);

    void unparkVirtualThread(Thread thread);
}
