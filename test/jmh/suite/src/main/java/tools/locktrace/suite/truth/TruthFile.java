package tools.locktrace.suite.truth;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The file that takes the turns from the fork to the checker: text with a turn on each line, its
 * fields separated by tabs. A call chain is written once, on a line of its own before the first
 * turn that refers to its number.
 */
final class TruthFile {
    private TruthFile() {}

    static void write(Path path, Iterable<TurnLog> logs) throws IOException {
        Map<String, Integer> chains = new HashMap<>();
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(path))) {
            for (TurnLog log : logs) {
                for (Turn turn : log.turns) {
                    int blocked = number(turn.blockedChain, chains, out);
                    int owner = number(turn.ownerChain, chains, out);
                    out.printf("turn\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d%n", log.thread, turn.lock, turn.naps,
                            turn.wantedNanos, turn.acquiredNanos, turn.releasedNanos, blocked, owner,
                            turn.demand.units, turn.demand.of);
                }
            }
            if (out.checkError()) {
                throw new IOException("cannot write " + path);
            }
        }
    }

    private static int number(String chain, Map<String, Integer> chains, PrintWriter out) {
        Integer known = chains.get(chain);
        if (known != null) {
            return known;
        }
        int number = chains.size();
        chains.put(chain, number);
        out.println("chain\t" + chain);
        return number;
    }

    static List<Holding> read(Path path) throws IOException {
        List<String> chains = new ArrayList<>();
        List<Holding> holdings = new ArrayList<>();
        try (BufferedReader in = Files.newBufferedReader(path)) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] fields = line.split("\t");
                if (fields[0].equals("chain")) {
                    chains.add(fields[1]);
                } else {
                    holdings.add(new Holding(fields, chains));
                }
            }
        }
        return holdings;
    }
}
