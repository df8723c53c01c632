# A usual benchmark of interpreters: calls, attributes, containers, strings, exceptions, generators.
# Runs in Python 2 and 3, with the same result.


class Shape(object):
    sides = 0

    def __init__(self, size):
        self.size = size

    def measure(self):
        return self.size * self.sides


class Triangle(Shape):
    sides = 3


class Square(Shape):
    sides = 4

    def measure(self):
        return Shape.measure(self) + 1


def calls():
    shapes = [Triangle(i) if i % 2 else Square(i) for i in range(1000)]
    return sum(shape.measure() for shape in shapes)


def recursion(n):
    return n if n < 2 else recursion(n - 1) + recursion(n - 2)


def dictionaries():
    counts = {}
    for i in range(3000):
        key = "key%d" % (i * 7 % 101)
        counts[key] = counts.get(key, 0) + i
    return sum(counts[key] * len(key) for key in sorted(counts))


def strings():
    words = []
    for i in range(1000):
        words.append(str(i * i).replace("1", "one")[::-1].upper())
    text = " ".join(words)
    return len(text) + text.count("ENO") + text.find("EERHT")


def lists():
    state = 42
    numbers = []
    for _ in range(2000):
        state = (state * 1103515245 + 12345) % 2147483648
        numbers.append(state % 1000)
    numbers.sort(key=lambda number: -number)
    return sum(i * number for i, number in enumerate(numbers[:100]))


def exceptions():
    caught = 0
    for i in range(500):
        try:
            if i % 3 == 0:
                raise ValueError(i)
            [][i]
        except ValueError:
            caught += 2
        except IndexError:
            caught += 1
    return caught


def primes():
    found = []
    for candidate in range(2, 1500):
        if all(candidate % prime for prime in found if prime * prime <= candidate):
            found.append(candidate)
            yield candidate


def run(rounds):
    result = 0
    for _ in range(rounds):
        result += calls() + recursion(15) + dictionaries() + strings() + lists() + exceptions() + sum(primes())
    return result
