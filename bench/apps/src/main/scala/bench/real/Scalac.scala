package bench.real

import bench.{Application, Jars, Settings, WrongResult}
import java.nio.file.Path
import java.util.zip.{ZipEntry, ZipFile}
import scala.collection.JavaConverters._
import scala.io.{Codec, Source}
import scala.reflect.internal.util.{BatchSourceFile, SourceFile}
import scala.reflect.io.{AbstractFile, VirtualDirectory}
import scala.tools.nsc.Global
import scala.tools.nsc.reporters.StoreReporter
import scala.util.parsing.combinator.Parsers

/**
 * The Scala compiler, in this JVM, compiles a package of the library of parser
 * combinators into memory. The result has the classes that the library was published
 * with.
 */
final class Scalac(settings: Settings) extends Application {
  import Scalac._

  private val compilations = settings.work(Compilations)
  private val sources: List[SourceFile] =
    files(Jars.sourcesOf("scala-parser-combinators_2.11"), ".scala") { (zip, file) =>
      new BatchSourceFile(file.getName, Source.fromInputStream(zip.getInputStream(file))(Codec.UTF8).mkString)
    }
  private val published: Set[String] =
    files(Jars.of(classOf[Parsers]), ".class") { (_, file) => file.getName.split('/').last }.toSet

  private var results: List[AbstractFile] = Nil

  override def iterate(): Unit =
    results = List.fill(compilations)(compile())

  override def check(): Unit =
    for (result <- results) {
      val classes = classFiles(result).toSet
      WrongResult.unless(classes == published,
        s"missing classes: ${published -- classes}, unexpected ones: ${classes -- published}")
    }

  private def compile(): AbstractFile = {
    val output = new VirtualDirectory("classes", None)
    val options = new scala.tools.nsc.Settings(message => throw new IllegalStateException(message))
    options.classpath.value = Jars.of(classOf[Option[_]]).toString
    options.outputDirs.setSingleOutput(output)
    val reporter = new StoreReporter
    val compiler = new Global(options, reporter)
    new compiler.Run().compileSources(sources)
    WrongResult.unless(!reporter.hasErrors, reporter.infos.mkString("; "))
    output
  }

  private def classFiles(directory: AbstractFile): Iterator[String] =
    directory.iterator.flatMap(file => if (file.isDirectory) classFiles(file) else Iterator(file.name))

  private def files[A](jar: Path, extension: String)(read: (ZipFile, ZipEntry) => A): List[A] = {
    val zip = new ZipFile(jar.toFile)
    try zip.entries.asScala
      .filter(file => file.getName.startsWith(Package) && file.getName.endsWith(extension))
      .map(read(zip, _)).toList
    finally zip.close()
  }
}

private object Scalac {
  val Compilations = 2
  val Package = "scala/util/parsing/input/"
}
