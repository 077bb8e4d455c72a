-- How much of each class has run in production since a day?
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only; empty: of all
-- param build TEXT default '': classes of this build; empty: of each service's newest build
-- days edge_days from since
-- days method_days from since
-- views builds, build_ages, chosen, ran_methods
--
-- Of classes that were loaded. Ways out of branches that a compiler made are in neither number.
WITH taken AS (
  SELECT e.service, e.class, e.method, e.descriptor, e.graph, e.edge
  FROM params p CROSS JOIN edge_days e JOIN chosen c ON e.service = c.service
  WHERE e.day >= p.since AND (e.count IS NULL OR e.count > 0)
  GROUP BY e.service, e.class, e.method, e.descriptor, e.graph, e.edge
), there AS (
  SELECT m.service, m.build, m.class, m.method, m.descriptor
  FROM methods m JOIN chosen c ON m.service = c.service AND m.build = c.build
  GROUP BY m.service, m.build, m.class, m.method, m.descriptor
), methods_run AS (
  SELECT m.service, m.build, m.class, count(*) AS methods, count(r.method) AS methods_run
  FROM there m LEFT JOIN ran_methods r
    ON m.service = r.service AND m.class = r.class AND m.method = r.method AND m.descriptor = r.descriptor
  GROUP BY m.service, m.build, m.class
), ways AS (
  SELECT b.service, b.build, b.class, b.method, b.descriptor, b.graph, b.edge
  FROM branches b JOIN chosen c ON b.service = c.service AND b.build = c.build
  WHERE NOT b.made
  GROUP BY b.service, b.build, b.class, b.method, b.descriptor, b.graph, b.edge
), ways_taken AS (
  SELECT w.service, w.build, w.class, count(*) AS ways, count(t.edge) AS ways_taken
  FROM ways w LEFT JOIN taken t ON w.service = t.service AND w.class = t.class AND w.method = t.method
    AND w.descriptor = t.descriptor AND w.graph = t.graph AND w.edge = t.edge
  GROUP BY w.service, w.build, w.class
)
SELECT m.service, m.build, m.class, m.methods_run, m.methods,
  COALESCE(w.ways_taken, 0) AS ways_taken, COALESCE(w.ways, 0) AS ways
FROM methods_run m LEFT JOIN ways_taken w ON m.service = w.service AND m.build = w.build AND m.class = w.class
ORDER BY COALESCE(w.ways, 0) - COALESCE(w.ways_taken, 0) + m.methods - m.methods_run DESC, m.service, m.build, m.class
