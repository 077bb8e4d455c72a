-- Which branches did no JVM take since a day, in code that runs?
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only; empty: of all
-- param build TEXT default '': ways out of this build's branches; empty: of each service's newest build
-- days edge_days from since
-- days path_days from since
--
-- Runs and outcomes count of any build in which the method has the same flow graph.
-- `certain`: all windows of the service since the day are there and complete. `missing`: windows that did not come in, of recordings with
-- later ones. `unended`: recordings without their last window. If one of them is not 0, it is not known; else it was not seen, which is less.
WITH hosts AS (
  SELECT w.service, w.build, w.host, min(w.started) AS started, max(w.day) AS last_day
  FROM params p CROSS JOIN windows w
  WHERE p.service = '' OR w.service = p.service
  GROUP BY w.service, w.build, w.host
), ranked AS (
  SELECT service, build, started, last_day, ROW_NUMBER() OVER (PARTITION BY service, build ORDER BY started) AS k,
    count(*) OVER (PARTITION BY service, build) AS n
  FROM hosts
), starts AS (
  -- A build begins when a tenth of its hosts, and at least two of several, have run it: no single clock decides.
  SELECT service, build, max(CASE WHEN 10 * k <= 20 + n THEN started END) AS first_started, max(last_day) AS last_day
  FROM ranked
  GROUP BY service, build
), aged AS (
  -- Builds with windows since the day first, the newest of them in front.
  SELECT s.service, s.build, CASE WHEN s.last_day >= p.since THEN 1 ELSE 0 END AS there,
    ROW_NUMBER() OVER (PARTITION BY s.service
      ORDER BY CASE WHEN s.last_day >= p.since THEN 0 ELSE 1 END, s.first_started DESC, s.build DESC) AS age
  FROM params p CROSS JOIN starts s
), chosen AS (
  SELECT a.service, a.build
  FROM params p CROSS JOIN aged a
  WHERE (p.build = '' AND a.age = 1) OR a.build = p.build
), recordings AS (
  SELECT w.service, w.jvm, bool_and(w.complete) AS complete, min(w.window) AS first_window,
    max(CASE WHEN w.is_last THEN 1 ELSE 0 END) AS ended
  FROM params p CROSS JOIN windows w JOIN chosen c ON w.service = c.service
  WHERE w.day >= p.since
  GROUP BY w.service, w.jvm
), lacking AS (
  -- Windows that never came in, of recordings that have later ones.
  SELECT r.service, r.jvm, sum(g.to_window - g.from_window + 1) AS windows
  FROM gaps g JOIN recordings r ON g.jvm = r.jvm
  WHERE g.to_window + 1 >= r.first_window
  GROUP BY r.service, r.jvm
), seen AS (
  SELECT r.service, bool_and(r.complete) AS complete, CAST(COALESCE(sum(l.windows), 0) AS BIGINT) AS missing, sum(1 - r.ended) AS unended
  FROM recordings r LEFT JOIN lacking l ON r.service = l.service AND r.jvm = l.jvm
  GROUP BY r.service
), ran AS (
  -- A graph ran if a path of it was counted, or an edge followed without a count.
  SELECT service, class, method, descriptor, graph, sum(paths) AS paths
  FROM (
    SELECT d.service, d.class, d.method, d.descriptor, d.graph, d.count AS paths
    FROM params p CROSS JOIN path_days d JOIN chosen c ON d.service = c.service
    WHERE d.day >= p.since
    UNION ALL
    SELECT e.service, e.class, e.method, e.descriptor, e.graph, CAST(0 AS BIGINT) AS paths
    FROM params p CROSS JOIN edge_days e JOIN chosen c ON e.service = c.service
    WHERE e.day >= p.since AND e.count IS NULL
  ) x
  GROUP BY service, class, method, descriptor, graph
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
  r.paths AS method_paths, s.complete AND s.missing = 0 AND s.unended = 0 AS certain, s.missing, s.unended,
  w.bci, w.graph, w.edge
FROM ways w
  JOIN ran r ON w.service = r.service AND w.class = r.class AND w.method = r.method AND w.descriptor = r.descriptor
    AND w.graph = r.graph
  JOIN seen s ON w.service = s.service
  LEFT JOIN taken t ON w.service = t.service AND w.class = t.class AND w.method = t.method
    AND w.descriptor = t.descriptor AND w.graph = t.graph AND w.edge = t.edge
WHERE t.edge IS NULL
ORDER BY method_paths DESC, w.service, w.build, w.class, w.method, w.descriptor, w.bci, w.edge
