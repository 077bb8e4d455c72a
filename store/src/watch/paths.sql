-- Counts of each path and day, of flow graphs with several paths.
-- param since DATE default newest-60d: first day
-- param until DATE default newest: last day
-- param service TEXT default '': of this service only; empty: of all
-- days path_days from since to until
WITH counted AS (
  SELECT d.service, d.class, d.method, d.descriptor, d.graph, d.path, d.day, sum(d.count) AS count
  FROM params p CROSS JOIN path_days d
  WHERE d.day >= p.since AND d.day <= p.until AND (p.service = '' OR d.service = p.service)
  GROUP BY d.service, d.class, d.method, d.descriptor, d.graph, d.path, d.day
), texts AS (
  SELECT service, class, method, descriptor, graph, path, min(text) AS text
  FROM path_texts
  GROUP BY service, class, method, descriptor, graph, path
)
SELECT c.service, c.class, c.method, c.descriptor, c.graph, c.path AS way, t.text AS name, c.day, c.count
FROM counted c LEFT JOIN texts t ON c.service = t.service AND c.class = t.class AND c.method = t.method
  AND c.descriptor = t.descriptor AND c.graph = t.graph AND c.path = t.path
ORDER BY c.service, c.class, c.method, c.descriptor, c.graph, c.path, c.day
