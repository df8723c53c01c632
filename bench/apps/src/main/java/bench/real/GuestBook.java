package bench.real;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.Hashtable;
import java.util.Map;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import javax.servlet.http.HttpSession;

/** Greets each guest, and counts its visits: in its session, and in one book for all. */
final class GuestBook extends HttpServlet {
    /** Lines of a page below the greeting. */
    static final int LINES = 50;
    private static final long serialVersionUID = 1;
    private static final String VISITS = "visits";

    private final Map<String, Integer> visits = new Hashtable<>();

    /** The first line of a page. */
    static String greeting(String guest, int visit) {
        return "guest " + guest + ", visit " + visit;
    }

    void forget() {
        visits.clear();
    }

    int visits(String guest) {
        return visits.getOrDefault(guest, 0);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String guest = request.getParameter("guest");
        HttpSession session = request.getSession();
        Integer before = (Integer) session.getAttribute(VISITS);
        int visit = before == null ? 1 : before + 1;
        session.setAttribute(VISITS, visit);
        visits.merge(guest, 1, Integer::sum);
        response.setContentType("text/plain");
        PrintWriter page = response.getWriter();
        page.println(greeting(guest, visit));
        for (int line = 0; line < LINES; line++) {
            page.printf("line %d for guest %s%n", line, guest);
        }
    }
}
