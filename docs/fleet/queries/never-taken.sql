-- Which branches did no JVM take since a day, in code that runs?
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only; empty: of all
-- param build TEXT default '': ways out of this build's branches; empty: of each service's newest build
-- days edge_days from since
-- days path_days from since
-- views builds, build_ages, chosen, seen
--
-- Runs and outcomes count of any build in which the method has the same flow graph.
-- `certain`: all windows of the service since the day are there and complete. `missing`: windows that did not come in, of
-- `lacking` recordings with later ones. `unended`: recordings without their last window. If one of them is not 0, it is not
-- known; else it was not seen, which is less.
WITH ran AS (
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
  r.paths AS method_paths, s.complete AND s.missing = 0 AND s.unended = 0 AS certain, s.missing, s.lacking, s.unended,
  w.bci, w.graph, w.edge
FROM ways w
  JOIN ran r ON w.service = r.service AND w.class = r.class AND w.method = r.method AND w.descriptor = r.descriptor
    AND w.graph = r.graph
  JOIN seen s ON w.service = s.service
  LEFT JOIN taken t ON w.service = t.service AND w.class = t.class AND w.method = t.method
    AND w.descriptor = t.descriptor AND w.graph = t.graph AND w.edge = t.edge
WHERE t.edge IS NULL
ORDER BY method_paths DESC, w.service, w.build, w.class, w.method, w.descriptor, w.bci, w.edge
