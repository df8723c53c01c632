package bench.real;

import akka.actor.ActorRef;
import akka.actor.ActorSystem;
import akka.actor.Props;
import akka.actor.UntypedActor;
import bench.Application;
import bench.Settings;
import bench.WrongResult;
import com.typesafe.config.ConfigFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import scala.concurrent.Await;
import scala.concurrent.duration.Duration;

/**
 * Tellers and accounts of a bank, each of them an Akka actor: a teller withdraws
 * from an account, deposits what it got in another one, and goes on with the next
 * transfer.
 */
public final class Akka implements Application {
    private static final int TRANSFERS = 1_200_000;
    private static final int ACCOUNTS = 1_000;
    private static final int TELLERS_PER_THREAD = 4;
    private static final int INITIAL_BALANCE = 1_000;

    private final int tellers;
    private final int transfersEach;
    private final ActorSystem system;
    private final List<ActorRef> accounts = new ArrayList<>();
    private long bookingsExpected;

    public Akka(Settings settings) {
        tellers = TELLERS_PER_THREAD * settings.threads();
        transfersEach = Math.max(1, settings.work(TRANSFERS) / tellers);
        system = ActorSystem.create("bank", ConfigFactory.parseString(
                "akka { loglevel = OFF, stdout-loglevel = OFF, actor.default-dispatcher.fork-join-executor {"
                + " parallelism-min = " + settings.threads() + ", parallelism-max = " + settings.threads() + " } }")
                .withFallback(ConfigFactory.load()));
        for (int i = 0; i < ACCOUNTS; i++) {
            accounts.add(system.actorOf(Props.create(Account.class, Account::new)));
        }
    }

    @Override
    public void iterate() throws InterruptedException {
        CountDownLatch allDone = new CountDownLatch(tellers);
        for (int i = 0; i < tellers; i++) {
            int number = i;
            ActorRef teller = system.actorOf(Props.create(Teller.class, () -> new Teller(number, allDone)));
            teller.tell(Done.DONE, ActorRef.noSender());
        }
        allDone.await();
        bookingsExpected += 2L * tellers * transfersEach;
    }

    @Override
    public void check() throws InterruptedException, WrongResult {
        Audit audit = new Audit();
        accounts.forEach(account -> account.tell(audit, ActorRef.noSender()));
        audit.reportsMissing.await();
        WrongResult.unlessEqual("money", (long) ACCOUNTS * INITIAL_BALANCE, audit.balance.get());
        WrongResult.unlessEqual("bookings", bookingsExpected, audit.bookings.get());
    }

    @Override
    public void close() throws Exception {
        Await.ready(system.terminate(), Duration.Inf());
    }

    /** The booking asked for is done. */
    private enum Done {
        DONE
    }

    /** An amount to be added to an account. */
    private static final class Booking {
        final int amount;

        Booking(int amount) {
            this.amount = amount;
        }
    }

    /** Asks all accounts for their balances. */
    private static final class Audit {
        final CountDownLatch reportsMissing = new CountDownLatch(ACCOUNTS);
        final AtomicLong balance = new AtomicLong();
        final AtomicLong bookings = new AtomicLong();
    }

    private static final class Account extends UntypedActor {
        private int balance = INITIAL_BALANCE;
        private int bookings;

        @Override
        public void onReceive(Object message) {
            if (message instanceof Booking) {
                balance += ((Booking) message).amount;
                bookings++;
                getSender().tell(Done.DONE, getSelf());
            } else if (message instanceof Audit) {
                Audit audit = (Audit) message;
                audit.balance.addAndGet(balance);
                audit.bookings.addAndGet(bookings);
                audit.reportsMissing.countDown();
            } else {
                unhandled(message);
            }
        }
    }

    private final class Teller extends UntypedActor {
        private final int number;
        private final CountDownLatch allDone;
        /** Counts withdrawals and deposits. */
        private int step;

        Teller(int number, CountDownLatch allDone) {
            this.number = number;
            this.allDone = allDone;
        }

        @Override
        public void onReceive(Object done) {
            int transfer = step / 2;
            if (transfer == transfersEach) {
                allDone.countDown();
                getContext().stop(getSelf());
                return;
            }
            int amount = 1 + transfer % 9;
            if (step % 2 == 0) {
                book((number * 31 + transfer) % ACCOUNTS, -amount);
            } else {
                book((number * 17 + transfer * 7 + 1) % ACCOUNTS, amount);
            }
            step++;
        }

        private void book(int account, int amount) {
            accounts.get(account).tell(new Booking(amount), getSelf());
        }
    }
}
