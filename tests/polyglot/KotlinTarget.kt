// Kotlin: when, ranges, inline lambdas, nullable chains, a suspending state machine by sequence.
object KotlinTarget {
    sealed class Node
    data class Leaf(val value: Int) : Node()
    data class Fork(val left: Node, val right: Node) : Node()

    fun sum(node: Node): Int = when (node) {
        is Leaf -> node.value // expect taken=3 not-taken=4
        is Fork -> sum(node.left) + sum(node.right) // expect taken=0 not-taken=3
    }

    fun word(x: Int): String = when (x) {
        0 -> "zero"
        in 1..9 -> "digit"
        10, 20, 30 -> "ten"
        else -> "many"
    }

    fun length(s: String?): Int = s?.trim()?.length ?: -1

    fun <T> count(list: List<T>, test: (T) -> Boolean): Int {
        var n = 0
        for (x in list) if (test(x)) n++
        return n
    }

    fun default(a: Int = 1, b: Int = 2): Int = if (a > b) a else b // expect taken=2 not-taken=1, taken=0 not-taken=2, taken=1 not-taken=1

    val primes = sequence {
        var n = 2
        while (true) {
            if ((2 until n).none { n % it == 0 }) yield(n)
            n++
        }
    }

    fun loop(): Int {
        var total = 0
        outer@ for (i in 1..10) { // mark outer
            for (j in 1..10) {
                if (j > i) continue@outer
                if (i * j == 42) break@outer
                total += i * j
            }
        }
        return total
    }
}

fun main() {
    val tree = KotlinTarget.Fork(KotlinTarget.Leaf(1), KotlinTarget.Fork(KotlinTarget.Leaf(2), KotlinTarget.Leaf(3)))
    println(KotlinTarget.sum(KotlinTarget.Fork(tree, KotlinTarget.Leaf(4))))
    println((0..40).joinToString(",") { KotlinTarget.word(it) })
    println(KotlinTarget.length(null) + KotlinTarget.length(" ab "))
    println(KotlinTarget.count((1..100).toList()) { it % 7 == 0 })
    println(KotlinTarget.default() + KotlinTarget.default(b = 0) + KotlinTarget.default(5, 9))
    println(KotlinTarget.primes.take(20).toList())
    println(KotlinTarget.loop())
    try {
        println(listOf(1, 2, 0).map { 10 / it })
    } catch (e: ArithmeticException) {
        println("divided")
    } finally {
        println("done")
    }
}
