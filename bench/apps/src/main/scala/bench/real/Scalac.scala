package bench.real

import bench.{Application, Jars, Settings, WrongResult}
import java.io.File
import java.util.zip.ZipFile
import scala.collection.JavaConverters._
import scala.reflect.internal.util.{BatchSourceFile, SourceFile}
import scala.io.{Codec, Source}
import scala.reflect.io.{AbstractFile, VirtualDirectory}
import scala.tools.nsc.Global
import scala.tools.nsc.reporters.StoreReporter

/** The Scala compiler, in this JVM, compiles the library of parser combinators into memory. */
final class Scalac(settings: Settings) extends Application {
  private val sources: List[SourceFile] = read(Jars.sourcesOf("scala-parser-combinators_2.11").toFile)
  private val compilations = settings.work(Scalac.Compilations)
  private var classFiles = 0

  override def iterate(): Unit = {
    classFiles = 0
    for (_ <- 1 to compilations) classFiles += compile()
  }

  override def check(): Unit =
    WrongResult.unlessEqual("class files", compilations.toLong * Scalac.ClassFiles, classFiles)

  /** Returns how many class files there are. */
  private def compile(): Int = {
    val output = new VirtualDirectory("classes", None)
    val options = new scala.tools.nsc.Settings(message => throw new IllegalStateException(message))
    options.classpath.value = Jars.of(classOf[Option[_]]).toString
    options.outputDirs.setSingleOutput(output)
    val reporter = new StoreReporter
    val compiler = new Global(options, reporter)
    new compiler.Run().compileSources(sources)
    WrongResult.unless(!reporter.hasErrors, reporter.infos.mkString("; "))
    count(output)
  }

  private def count(directory: AbstractFile): Int =
    directory.iterator.map(file => if (file.isDirectory) count(file) else 1).sum

  private def read(jar: File): List[SourceFile] = {
    val zip = new ZipFile(jar)
    try {
      val entries = zip.entries.asScala.filter(_.getName.endsWith(".scala")).toList
      entries.map(entry => new BatchSourceFile(entry.getName, Source.fromInputStream(zip.getInputStream(entry))(Codec.UTF8).mkString))
    } finally zip.close()
  }
}

private object Scalac {
  val Compilations = 1
  /** What all of the library has, compiled by this compiler. */
  val ClassFiles = 352
}
