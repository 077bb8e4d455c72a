-- Which methods cost most, over all JVMs?
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only; empty: of all
-- param build TEXT default '': of this build only; empty: of all
-- days method_days from since
--
-- By CPU time if any was sampled, else by branches decided; `ranked_by` says which.
WITH work AS (
  SELECT m.service, m.class, m.method, m.descriptor,
    sum(m.cpu_ns) AS cpu_ns, sum(m.samples) AS samples, sum(m.decisions) AS decisions, sum(m.paths) AS paths
  FROM params p CROSS JOIN method_days m
  WHERE m.day >= p.since AND (p.service = '' OR m.service = p.service) AND (p.build = '' OR m.build = p.build)
  GROUP BY m.service, m.class, m.method, m.descriptor
), totals AS (
  SELECT CAST(sum(cpu_ns) AS DOUBLE) AS cpu_ns, CAST(sum(decisions) AS DOUBLE) AS decisions FROM work
)
SELECT w.service, w.class, w.method, w.descriptor,
  round(CASE
    WHEN t.cpu_ns > 0 THEN CAST(COALESCE(w.cpu_ns, 0) AS DOUBLE) / t.cpu_ns
    WHEN t.decisions > 0 THEN CAST(w.decisions AS DOUBLE) / t.decisions
    ELSE 0.0
  END, 6) AS share,
  CASE WHEN t.cpu_ns > 0 THEN 'cpu' ELSE 'decisions' END AS ranked_by,
  w.cpu_ns, w.samples, w.decisions, w.paths
FROM work w CROSS JOIN totals t
ORDER BY share DESC, w.decisions DESC, w.paths DESC, w.service, w.class, w.method, w.descriptor
