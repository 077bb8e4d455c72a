-- What does a build do differently from the one before it?
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only; empty: of all
-- param build TEXT default '': this build; empty: each service's newest
-- param base TEXT default '': against this build; empty: the one that first ran before it
-- param min_share DOUBLE default 0.05: least change of a path's share among its method's paths
-- param min_count BIGINT default 10: least times that a method, or a new or gone path, is to be expected in either build
-- days path_days from since
-- views builds, build_ages, chosen
--
-- Kinds: `new path`, `gone path`, `share` (of a path among its method's), `graph changed` (paths cannot be compared),
-- `new method`, `gone method` (ran in one build only). Estimates: only what four standard errors do not explain.
-- Only builds with windows since the day are compared.
-- `moved`: by how much the share of the build's work (branches decided) changed.
WITH pairs AS (
  SELECT c.service, c.build, a.build AS base
  FROM params p CROSS JOIN chosen c JOIN build_ages a ON c.service = a.service
  WHERE c.there = 1 AND a.there = 1 AND a.build <> c.build AND ((p.base = '' AND a.age = c.age + 1) OR a.build = p.base)
), texts AS (
  SELECT service, class, method, descriptor, graph, path, min(text) AS text, min(decisions) AS decisions
  FROM path_texts
  GROUP BY service, class, method, descriptor, graph, path
), counted AS (
  SELECT d.service, s.build, s.base, d.class, d.method, d.descriptor, d.graph, d.path,
    sum(CASE WHEN d.build = s.base THEN d.count ELSE 0 END) AS old_count,
    sum(CASE WHEN d.build = s.build THEN d.count ELSE 0 END) AS new_count,
    -- Half widths of intervals, squared: they add up. Where an error is not known, nothing is.
    sum(CASE WHEN d.build = s.base AND NOT d.exact THEN power(CAST(d.count AS DOUBLE) * COALESCE(d.error, 1.0), 2.0) ELSE 0.0 END) AS old_half,
    sum(CASE WHEN d.build = s.build AND NOT d.exact THEN power(CAST(d.count AS DOUBLE) * COALESCE(d.error, 1.0), 2.0) ELSE 0.0 END) AS new_half,
    bool_and(d.exact) AS exact
  FROM params p CROSS JOIN path_days d JOIN pairs s ON d.service = s.service AND (d.build = s.build OR d.build = s.base)
  WHERE d.day >= p.since
  GROUP BY d.service, s.build, s.base, d.class, d.method, d.descriptor, d.graph, d.path
), weighed AS (
  SELECT c.service, c.build, c.base, c.class, c.method, c.descriptor, c.graph, c.path, c.old_count, c.new_count, c.old_half, c.new_half,
    c.exact, t.text, c.old_count * COALESCE(t.decisions, 0) AS old_work, c.new_count * COALESCE(t.decisions, 0) AS new_work
  FROM counted c LEFT JOIN texts t ON c.service = t.service AND c.class = t.class AND c.method = t.method
    AND c.descriptor = t.descriptor AND c.graph = t.graph AND c.path = t.path
), totals AS (
  SELECT service, build, CAST(sum(old_work) AS DOUBLE) AS old_work, CAST(sum(new_work) AS DOUBLE) AS new_work,
    CAST(sum(old_count) AS DOUBLE) AS old_count, CAST(sum(new_count) AS DOUBLE) AS new_count
  FROM weighed
  GROUP BY service, build
), graphs AS (
  SELECT service, build, base, class, method, descriptor, graph, sum(old_count) AS old_count, sum(new_count) AS new_count,
    sum(old_work) AS old_work, sum(new_work) AS new_work, bool_and(exact) AS exact
  FROM weighed
  GROUP BY service, build, base, class, method, descriptor, graph
), whole AS (
  SELECT service, build, base, class, method, descriptor, sum(old_count) AS old_count, sum(new_count) AS new_count,
    sum(old_work) AS old_work, sum(new_work) AS new_work, bool_and(exact) AS exact,
    max(CASE WHEN old_count > 0 AND new_count > 0 THEN 1 ELSE 0 END) AS alike
  FROM graphs
  GROUP BY service, build, base, class, method, descriptor
), of_methods AS (
  SELECT CASE WHEN w.old_count = 0 THEN 'new method' WHEN w.new_count = 0 THEN 'gone method' ELSE 'graph changed' END AS kind,
    w.service, w.build, w.base, w.class, w.method, w.descriptor, CAST(NULL AS STRING) AS path, CAST(NULL AS STRING) AS text,
    CAST(NULL AS DOUBLE) AS old_share, CAST(NULL AS DOUBLE) AS new_share,
    w.old_count, w.new_count, w.old_work, w.new_work, w.exact
  FROM params p CROSS JOIN whole w JOIN totals t ON w.service = t.service AND w.build = t.build
  -- Of a build that counted little, or nothing, it is not known that a method is gone.
  WHERE w.alike = 0 AND CASE
    WHEN w.old_count = 0 THEN CAST(w.new_count AS DOUBLE) / t.new_count * t.old_count
    WHEN w.new_count = 0 THEN CAST(w.old_count AS DOUBLE) / t.old_count * t.new_count
    ELSE CAST(w.old_count + w.new_count AS DOUBLE)
  END >= p.min_count
), shares AS (
  SELECT w.service, w.build, w.base, w.class, w.method, w.descriptor, w.path, w.text, w.old_count, w.new_count, w.old_work, w.new_work, w.exact,
    CAST(g.old_count AS DOUBLE) AS old_total, CAST(g.new_count AS DOUBLE) AS new_total,
    CAST(w.old_count AS DOUBLE) / CAST(g.old_count AS DOUBLE) AS old_share,
    CAST(w.new_count AS DOUBLE) / CAST(g.new_count AS DOUBLE) AS new_share,
    sqrt(w.old_half / power(CAST(g.old_count AS DOUBLE), 2.0) + w.new_half / power(CAST(g.new_count AS DOUBLE), 2.0)) AS half
  FROM weighed w JOIN graphs g ON w.service = g.service AND w.build = g.build AND w.class = g.class AND w.method = g.method
    AND w.descriptor = g.descriptor AND w.graph = g.graph
  WHERE g.old_count > 0 AND g.new_count > 0
), of_paths AS (
  SELECT CASE WHEN s.old_count = 0 THEN 'new path' WHEN s.new_count = 0 THEN 'gone path' ELSE 'share' END AS kind,
    s.service, s.build, s.base, s.class, s.method, s.descriptor, CAST(s.path AS STRING) AS path, CAST(s.text AS STRING) AS text,
    s.old_share, s.new_share, s.old_count, s.new_count, s.old_work, s.new_work, s.exact
  FROM params p CROSS JOIN shares s
  -- Twice the half width of 95 % is four standard errors.
  WHERE abs(s.new_share - s.old_share) > 2.0 * s.half
    AND CASE
      WHEN s.old_count = 0 THEN s.new_share * s.old_total >= p.min_count
      WHEN s.new_count = 0 THEN s.old_share * s.new_total >= p.min_count
      ELSE abs(s.new_share - s.old_share) >= p.min_share AND s.old_total >= p.min_count AND s.new_total >= p.min_count
    END
), found AS (
  SELECT * FROM of_methods UNION ALL SELECT * FROM of_paths
)
SELECT f.service, f.base, f.build, f.kind, f.class, f.method, f.descriptor, f.text,
  round(f.old_share, 6) AS old_share, round(f.new_share, 6) AS new_share, f.old_count, f.new_count,
  round(COALESCE(CASE WHEN b.new_work > 0 THEN CAST(f.new_work AS DOUBLE) / b.new_work END, 0.0)
    - COALESCE(CASE WHEN b.old_work > 0 THEN CAST(f.old_work AS DOUBLE) / b.old_work END, 0.0), 6) AS moved,
  f.exact, f.path
FROM found f JOIN totals b ON f.service = b.service AND f.build = b.build
ORDER BY abs(moved) DESC, f.service, f.build, f.base, f.class, f.method, f.descriptor, f.kind, f.path
