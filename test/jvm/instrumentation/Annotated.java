package instrumentation;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Type annotations of all kinds that code has, among releases of monitors. */
class Annotated {
    @Target({ElementType.TYPE_USE, ElementType.TYPE_PARAMETER})
    @Retention(RetentionPolicy.RUNTIME)
    @interface Seen {
        int value() default 0;

        String[] names() default {};

        Class<?>[] classes() default {};

        Inner inner() default @Inner(1);
    }

    @Target(ElementType.TYPE_USE)
    @Retention(RetentionPolicy.CLASS)
    @interface Inner {
        long value();

        RetentionPolicy policy() default RetentionPolicy.SOURCE;
    }

    synchronized Object all(Object input, int[] lock) throws IOException {
        synchronized (lock) {
            @Seen(names = {"a", "b"}, classes = {int.class, Annotated.class})
            List<@Seen(1) String> list = new @Seen(2) ArrayList<@Seen(3) String>();
            try (@Seen(4) ByteArrayInputStream stream = new ByteArrayInputStream(new byte[3])) {
                list.add("" + stream.read());
            } catch (@Seen(inner = @Inner(value = 2, policy = RetentionPolicy.CLASS)) Exception e) {
                return e;
            }
            if (input instanceof @Seen(6) String) {
                list.add((@Seen(7) String) input);
            }
            Supplier<List<String>> supplier = @Seen(8) ArrayList<String>::new;
            synchronized (list) {
                @Inner(9) Object last = Annotated.<@Seen(10) String>first(supplier.get());
                try {
                    return last;
                } catch (@Seen(11) IllegalStateException | @Inner(12) IllegalArgumentException e) {
                    return e;
                }
            }
        }
    }

    private static <T> Object first(List<T> list) {
        return list.isEmpty() ? list : list.get(0);
    }
}
