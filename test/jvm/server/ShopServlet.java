package server;

import java.io.IOException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

/** The pages of the shop. */
final class ShopServlet extends HttpServlet {
    static final String[] PAGES = {"/order", "/history", "/report"};
    static final int PRICE = 250;

    private static final long serialVersionUID = 1;

    private final transient Database database;
    private final transient Sales sales;

    ShopServlet(Database database, Sales sales) {
        this.database = database;
        this.sales = sales;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int customer = Integer.parseInt(request.getParameter("customer"));
        response.setContentType("text/plain");
        response.getWriter().print(answer(request.getServletPath(), customer));
    }

    private Object answer(String page, int customer) {
        switch (page) {
            case "/order":
                database.insertOrder(customer);
                return sales.add(customer, PRICE);
            case "/history":
                return database.selectHistory(customer);
            default:
                return sales.report();
        }
    }
}
