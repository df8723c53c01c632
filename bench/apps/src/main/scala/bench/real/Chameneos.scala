package bench.real

import bench.{Application, Settings, WrongResult}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicLong
import scala.actors.{Actor, OutputChannel}
import scala.actors.scheduler.ForkJoinScheduler

/**
 * Creatures, each of them a Scala actor, come to a place where they meet in pairs,
 * until there were enough meetings. Each counts its own.
 */
final class Chameneos(settings: Settings) extends Application {
  import Chameneos._

  private val meetings = settings.work(Meetings)
  private val creatures = CreaturesPerThread * settings.threads
  private val threads = new ForkJoinScheduler(settings.threads, settings.threads, true, false)
  new Host().start()
  threads.start()
  private val met = new AtomicLong

  override def iterate(): Unit = {
    met.set(0)
    val allGone = new CountDownLatch(creatures)
    val place = new Place
    place.start()
    for (_ <- 1 to creatures) new Creature(place, allGone).start()
    allGone.await()
  }

  override def check(): Unit =
    WrongResult.unlessEqual("creatures that met another", 2L * meetings, met.get)

  override def close(): Unit = threads.shutdown()

  /**
   * Never leaves. The scheduler looks every 10 ms whether any actor is left, and shuts
   * down for good if not, as could happen between two iterations.
   */
  private final class Host extends Actor {
    override def scheduler = threads

    override def act(): Unit = react(PartialFunction.empty)
  }

  private final class Place extends Actor {
    private var left = meetings
    private var sentHome = 0
    private var first: Option[OutputChannel[Any]] = None

    override def scheduler = threads

    override def act(): Unit = loopWhile(sentHome < creatures) {
      react {
        case Arrived if left == 0 =>
          sentHome += 1
          sender ! Closed
        case Arrived if first.isEmpty =>
          first = Some(sender)
        case Arrived =>
          left -= 1
          first.foreach(_ ! Met)
          first = None
          sender ! Met
      }
    }
  }

  private final class Creature(place: Actor, allGone: CountDownLatch) extends Actor {
    private var meetings = 0
    private var home = false

    override def scheduler = threads

    override def act(): Unit = {
      place ! Arrived
      loopWhile(!home) {
        react {
          case Met =>
            meetings += 1
            place ! Arrived
          case Closed =>
            home = true
            met.addAndGet(meetings)
            allGone.countDown()
        }
      }
    }
  }
}

private object Chameneos {
  val Meetings = 300000
  val CreaturesPerThread = 4

  case object Arrived
  case object Met
  case object Closed
}
