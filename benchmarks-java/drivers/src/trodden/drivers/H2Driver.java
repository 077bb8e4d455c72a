package trodden.drivers;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Random;

/** A bank in an H2 database in memory: transfers, look-ups, joins and sums, with a fixed seed. */
final class H2Driver extends Driver {
    private static final int ACCOUNTS = 20_000;
    private static final int TRANSFERS = 40_000;

    public static void main(String[] args) throws Exception {
        new H2Driver().drive(args);
    }

    @Override
    String name() {
        return "h2";
    }

    @Override
    void prepare(List<Path> inputs) {}

    @Override
    void iterate() throws Exception {
        // Unnamed: private to the connection, gone when it is closed.
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:")) {
            connection.setAutoCommit(false);
            create(connection);
            Random random = new Random(42);
            transfer(connection, random);
            for (int query = 0; query < 30; query++) {
                report(connection, random);
            }
            long total = number(connection, "SELECT SUM(balance) FROM account");
            require(total == 1000L * ACCOUNTS, "money was lost");
        }
    }

    private static void create(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE account(id INT PRIMARY KEY, branch INT, owner VARCHAR(40), balance BIGINT)");
            statement.execute("CREATE TABLE history(id INT PRIMARY KEY, source INT, target INT, amount BIGINT)");
            statement.execute("CREATE INDEX by_branch ON account(branch)");
            statement.execute("CREATE INDEX by_source ON history(source)");
        }
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO account VALUES(?, ?, ?, 1000)")) {
            for (int id = 0; id < ACCOUNTS; id++) {
                insert.setInt(1, id);
                insert.setInt(2, id % 97);
                insert.setString(3, "owner " + Integer.toString(id * 7919, 36));
                insert.executeUpdate();
            }
        }
        connection.commit();
    }

    private static void transfer(Connection connection, Random random) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement("UPDATE account SET balance = balance + ? WHERE id = ?");
                PreparedStatement note = connection.prepareStatement("INSERT INTO history VALUES(?, ?, ?, ?)")) {
            for (int id = 0; id < TRANSFERS; id++) {
                int source = random.nextInt(ACCOUNTS);
                int target = random.nextInt(ACCOUNTS);
                int amount = random.nextInt(500);
                update.setInt(1, -amount);
                update.setInt(2, source);
                update.executeUpdate();
                update.setInt(1, amount);
                update.setInt(2, target);
                update.executeUpdate();
                note.setInt(1, id);
                note.setInt(2, source);
                note.setInt(3, target);
                note.setInt(4, amount);
                note.executeUpdate();
                if (id % 50 == 49) {
                    if (random.nextInt(10) == 0) {
                        connection.rollback();
                    } else {
                        connection.commit();
                    }
                }
            }
        }
        connection.commit();
    }

    private void report(Connection connection, Random random) throws SQLException {
        String sql = "SELECT a.branch, COUNT(*), SUM(h.amount), MAX(a.owner) FROM history h JOIN account a ON h.source = a.id"
                + " WHERE h.amount > " + random.nextInt(400) + " AND a.owner LIKE '%" + random.nextInt(10)
                + "%' GROUP BY a.branch ORDER BY 3 DESC, 1";
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                add(rows.getInt(1));
                add(rows.getLong(2));
                add(rows.getLong(3));
                add(rows.getString(4));
            }
        }
    }

    private static long number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
