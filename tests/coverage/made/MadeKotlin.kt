package made

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

data class Item(val name: String, val price: Int?)

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
}
