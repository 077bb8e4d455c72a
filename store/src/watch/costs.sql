-- Cost of each method and day.
-- param since DATE default newest-60d: first day
-- param until DATE default newest: last day
-- param service TEXT default '': of this service only; empty: of all
-- days method_days from since to until
SELECT m.service, m.class, m.method, m.descriptor, m.day, sum(m.paths) AS paths, sum(m.decisions) AS decisions,
  sum(m.cpu_ns) AS cpu_ns, sum(m.samples) AS samples
FROM params p CROSS JOIN method_days m
WHERE m.day >= p.since AND m.day <= p.until AND (p.service = '' OR m.service = p.service)
GROUP BY m.service, m.class, m.method, m.descriptor, m.day
ORDER BY m.service, m.class, m.method, m.descriptor, m.day
