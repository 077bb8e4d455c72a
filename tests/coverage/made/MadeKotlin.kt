package made

import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine

/** One function for each thing that kotlinc makes on its own. Each runs in part. */
inline fun <T> repeatedly(times: Int, value: T, what: (T) -> Int): Int {
    var sum = 0
    for (i in 0 until times) {
        sum += what(value)
    }
    return sum
}

sealed class Shape {
    class Square(val side: Int) : Shape()
    class Circle(val radius: Int) : Shape()
}

enum class Level { LOW, HIGH }

data class Item(val name: String, val price: Int?, val next: Item? = null)

class Service {
    lateinit var name: String

    fun greeting(): String {
        return "hello " + name
    }
}

fun area(shape: Shape): Int {
    return when (shape) {
        is Shape.Square -> shape.side * shape.side
        is Shape.Circle -> 3 * shape.radius * shape.radius
    }
}

fun rank(level: Level): Int {
    return when (level) {
        Level.LOW -> 1
        Level.HIGH -> 2
    }
}

fun word(text: String): Int {
    return when (text) {
        "Aa" -> 1
        "BB" -> 2
        "three" -> 3
        else -> 0
    }
}

fun withDefaults(a: Int = 1, b: Int = 2): Int {
    return if (a > b) a else b
}

fun total(items: List<Item>): Int {
    val known = items.filter { it.price != null && it.price > 0 }
    return known.sumOf { it.price!! }
}

fun inlined(n: Int): Int {
    val two = repeatedly(n, n) { if (it > 3) it else 1 }
    return if (two > 5) two else 0
}

fun chain(item: Item?): Int {
    return item?.name?.length ?: -1
}

fun longChain(item: Item?): Int? {
    return item?.next?.next?.price
}

fun asText(value: Any?): String {
    return value as String
}

fun surely(text: String?): Int {
    return text!!.length
}

fun guarded(lock: Any, n: Int): Int {
    synchronized(lock) {
        if (n > 2) {
            return n
        }
    }
    return 0
}

fun cleansUp(n: Int): Int {
    var sum = n
    try {
        if (n == 1) {
            throw IllegalArgumentException("one")
        }
        sum++
    } catch (e: IllegalArgumentException) {
        sum--
    } finally {
        if (sum > 3) {
            sum = 0
        }
    }
    return sum
}

class Handle : AutoCloseable {
    override fun close() {
        println("closed")
    }
}

fun uses(n: Int): Int {
    return Handle().use { if (n > 1) n else 1 }
}

fun rankOrNone(level: Level?): Int {
    return when (level) {
        Level.LOW -> 1
        Level.HIGH -> 2
        null -> 0
    }
}

fun wordOrNone(text: String?): Int {
    return when (text) {
        "one", "two" -> 1
        null -> 2
        else -> 3
    }
}

@JvmInline
value class Meters(val n: Int) {
    fun twice(): Int {
        return if (n > 3) n + n else 2 * n
    }
}

interface Greeter {
    fun greet(name: String): String {
        return if (name.isEmpty()) "nobody" else name
    }

    fun length(): Int {
        return greet("me").length
    }
}

class Polite : Greeter

class Shop @JvmOverloads constructor(val name: String, val size: Int = 3) {
    private var secret = 1

    @JvmOverloads
    fun sell(n: Int, price: Int = 2): Int {
        return if (n > size) 0 else n * price
    }

    fun later(): () -> Int {
        return { if (secret > 0) secret++ else 0 }
    }

    companion object {
        @JvmStatic
        fun open(): Shop {
            return Shop("open")
        }
    }
}

suspend fun pause(n: Int): Int {
    return if (n > 1) n else 1
}

suspend fun pauses(n: Int): Int {
    val first = pause(n)
    if (first > 3) {
        return first
    }
    return pause(first) + first
}

fun blocking(block: suspend () -> Int): Int {
    var result = 0
    block.startCoroutine(Continuation(EmptyCoroutineContext) { result = it.getOrThrow() })
    return result
}

fun same(a: Any, level: Level): Int {
    return if (a === level || level == Level.LOW) 1 else 2
}

fun main() {
    println(area(Shape.Square(2)))
    println(rank(Level.HIGH))
    println(word("BB") + word("none"))
    println(withDefaults() + withDefaults(5))
    println(total(listOf(Item("a", 3), Item("b", null))))
    println(inlined(2))
    println(chain(Item("abc", 1)) + chain(null))
    val service = Service()
    service.name = "you"
    println(service.greeting())
    println(longChain(Item("a", 1, Item("b", 2))))
    println(asText("text") + surely("text"))
    println(guarded("lock", 3) + cleansUp(1) + cleansUp(2) + uses(1))
    println(rankOrNone(Level.LOW) + wordOrNone("two"))
    println(Meters(4).twice() + Polite().length())
    println(Shop.open().sell(2) + Shop("b").later()())
    println(same("a", Level.HIGH))
    println(blocking { pauses(2) })
}
