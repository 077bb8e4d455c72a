-- Which branches did no JVM take since a day, in code that runs?
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only; empty: of all
-- param build TEXT default '': ways out of this build's branches; empty: of each service's newest build
-- days edge_days from since
-- days method_days from since
--
-- A way out counts as taken if any build took it in which the method has the same flow graph.
-- `certain`: all windows of the service since the day are complete. If not, it was not seen, which is less.
WITH starts AS (
  SELECT w.service, w.build, min(w.started) AS first_started
  FROM params p CROSS JOIN windows w
  WHERE p.service = '' OR w.service = p.service
  GROUP BY w.service, w.build
), aged AS (
  SELECT service, build, ROW_NUMBER() OVER (PARTITION BY service ORDER BY first_started DESC, build DESC) AS age
  FROM starts
), chosen AS (
  SELECT a.service, a.build
  FROM params p CROSS JOIN aged a
  WHERE (p.build = '' AND a.age = 1) OR a.build = p.build
), seen AS (
  SELECT w.service, bool_and(w.complete) AS certain
  FROM params p CROSS JOIN windows w JOIN chosen c ON w.service = c.service
  WHERE w.day >= p.since
  GROUP BY w.service
), ran AS (
  SELECT m.service, m.class, m.method, m.descriptor, sum(m.paths) AS paths
  FROM params p CROSS JOIN method_days m JOIN chosen c ON m.service = c.service
  WHERE m.day >= p.since
  GROUP BY m.service, m.class, m.method, m.descriptor
), taken AS (
  SELECT e.service, e.class, e.method, e.descriptor, e.graph, e.edge
  FROM params p CROSS JOIN edge_days e JOIN chosen c ON e.service = c.service
  WHERE e.day >= p.since AND (e.count IS NULL OR e.count > 0)
  GROUP BY e.service, e.class, e.method, e.descriptor, e.graph, e.edge
), ways AS (
  SELECT b.service, b.build, b.class, b.method, b.descriptor, b.graph, b.edge,
    min(b.bci) AS bci, min(b.line) AS line, min(b.condition) AS condition, min(b.outcome) AS outcome
  FROM branches b JOIN chosen c ON b.service = c.service AND b.build = c.build
  WHERE NOT b.made
  GROUP BY b.service, b.build, b.class, b.method, b.descriptor, b.graph, b.edge
)
SELECT w.service, w.build, w.class, w.method, w.descriptor, w.line, w.condition, w.outcome,
  r.paths AS method_paths, s.certain, w.bci, w.graph, w.edge
FROM ways w
  JOIN ran r ON w.service = r.service AND w.class = r.class AND w.method = r.method AND w.descriptor = r.descriptor
  JOIN seen s ON w.service = s.service
  LEFT JOIN taken t ON w.service = t.service AND w.class = t.class AND w.method = t.method
    AND w.descriptor = t.descriptor AND w.graph = t.graph AND w.edge = t.edge
WHERE t.edge IS NULL
ORDER BY method_paths DESC, w.service, w.build, w.class, w.method, w.descriptor, w.bci, w.edge
