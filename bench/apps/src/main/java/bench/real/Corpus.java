package bench.real;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;

/** Documents of made-up words, of which it is known which ones each word occurs in. */
final class Corpus {
    private static final int WORDS = 8_000;
    private static final int WORDS_PER_DOCUMENT = 200;
    private static final String[] SYLLABLES = {
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qi", "ro", "su", "ta", "ve", "wi", "xo", "zu"
    };

    private final List<String> documents = new ArrayList<>();
    private final BitSet[] documentsOfWord = new BitSet[WORDS];

    Corpus(int size) {
        for (int word = 0; word < WORDS; word++) {
            documentsOfWord[word] = new BitSet(size);
        }
        Random random = new Random(1);
        for (int document = 0; document < size; document++) {
            documents.add(document(document, random));
        }
    }

    List<String> documents() {
        return documents;
    }

    int words() {
        return WORDS;
    }

    /** The spelling of a word: three syllables at least, which no stop word has. */
    String word(int number) {
        StringBuilder spelling = new StringBuilder();
        for (int rest = number + SYLLABLES.length * SYLLABLES.length; rest > 0; rest /= SYLLABLES.length) {
            spelling.append(SYLLABLES[rest % SYLLABLES.length]);
        }
        return spelling.toString();
    }

    /** In how many documents the word occurs. */
    int documentsWith(int word) {
        return documentsOfWord[word].cardinality();
    }

    /** In how many documents both words occur. */
    int documentsWith(int word, int otherWord) {
        BitSet both = (BitSet) documentsOfWord[word].clone();
        both.and(documentsOfWord[otherWord]);
        return both.cardinality();
    }

    private String document(int number, Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < WORDS_PER_DOCUMENT; i++) {
            // Words are the rarer the higher their number, about as in natural languages.
            int word = (int) Math.pow(WORDS, random.nextDouble()) - 1;
            documentsOfWord[word].set(number);
            text.append(word(word)).append(i % 10 == 9 ? ".\n" : " ");
        }
        return text.toString();
    }
}
