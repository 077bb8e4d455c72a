-- How often each way out of a branch was taken on a day. Ways that were never taken have one row, without a day.
-- param since DATE default newest-60d: first day
-- param until DATE default newest: last day
-- param service TEXT default '': of this service only; empty: of all
-- days edge_days from since to until
WITH counted AS (
  SELECT e.service, e.class, e.method, e.descriptor, e.graph, e.edge, e.day,
    CASE WHEN count(e.count) = count(*) THEN sum(e.count) END AS count
  FROM params p CROSS JOIN edge_days e
  WHERE e.day >= p.since AND e.day <= p.until AND (p.service = '' OR e.service = p.service)
  GROUP BY e.service, e.class, e.method, e.descriptor, e.graph, e.edge, e.day
), ways AS (
  SELECT b.service, b.class, b.method, b.descriptor, b.graph, b.edge, min(b.bci) AS bci, min(b.line) AS line,
    min(b.condition) AS condition, min(b.outcome) AS outcome
  FROM params p CROSS JOIN branches b
  WHERE NOT b.made AND (p.service = '' OR b.service = p.service)
  GROUP BY b.service, b.class, b.method, b.descriptor, b.graph, b.edge
)
SELECT w.service, w.class, w.method, w.descriptor, w.graph, w.bci, w.edge AS way, w.line, w.condition, w.outcome,
  c.day, c.count
FROM ways w LEFT JOIN counted c ON w.service = c.service AND w.class = c.class AND w.method = c.method
  AND w.descriptor = c.descriptor AND w.graph = c.graph AND w.edge = c.edge
ORDER BY w.service, w.class, w.method, w.descriptor, w.graph, w.bci, w.edge, c.day
