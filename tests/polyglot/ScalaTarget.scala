// Scala: pattern matches, for comprehensions, lazy vals, tail calls, traits, try as expression.
object ScalaTarget {
  sealed trait Expr
  case class Num(value: Int) extends Expr
  case class Add(left: Expr, right: Expr) extends Expr
  case class Mul(left: Expr, right: Expr) extends Expr

  def eval(e: Expr): Int = e match {
    case Num(v)           => v
    case Add(Num(0), r)   => eval(r)
    case Add(l, r)        => eval(l) + eval(r)
    case Mul(Num(0), _)   => 0
    case Mul(l, r)        => eval(l) * eval(r)
  }

  lazy val table: Vector[Int] = (0 until 20).filter(_ % 3 == 0).map(i => i * i).toVector

  @annotation.tailrec
  def gcd(a: Int, b: Int): Int = if (b == 0) a else gcd(b, a % b) // expect taken=6 not-taken=1

  trait Greeter {
    def name: String
    def greet: String = if (name.isEmpty) "nobody" else s"hello $name"
  }

  def find(xs: List[Int], p: Int => Boolean): Option[Int] = {
    xs.foreach(x => if (p(x)) return Some(x)) // a non-local return: an exception
    None
  }

  def kind(x: Any): String = x match {
    case i: Int if i > 10 => "large"
    case _: Int           => "int"
    case "a" | "b"        => "letter"
    case s: String        => s.toUpperCase
    case (a, _)           => kind(a)
    case Nil              => "nil"
    case _                => "other"
  }

  def safe(s: String): Int = try s.toInt catch { case _: NumberFormatException => -1 } finally println("tried " + s)

  def main(args: Array[String]): Unit = {
    println(eval(Add(Num(0), Mul(Add(Num(2), Num(3)), Mul(Num(0), Num(9))))))
    println(table.sum + table.size)
    println(gcd(1071, 462 + 3))
    println(new Greeter { def name = "" }.greet + new Greeter { def name = "x" }.greet)
    println(find(List(1, 5, 8), _ > 4).toString + find(Nil, _ => true))
    println(List(5, 50, "a", "c", (1, 2), Nil, 2.0).map(kind).mkString(","))
    println(safe("12") + safe("x"))
    println((for (i <- 1 to 10; j <- 1 to i if (i + j) % 3 == 0) yield i * j).sum)
  }
}
