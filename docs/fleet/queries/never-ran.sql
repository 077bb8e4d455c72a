-- Which methods did no JVM run since a day, of classes that were loaded?
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only; empty: of all
-- param build TEXT default '': methods of this build; empty: of each service's newest build
-- days method_days from since
-- days context_days from since
--
-- `certain`, `missing`, `unended`: as `never-taken` has them.
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
  SELECT m.service, m.class, m.method, m.descriptor
  FROM params p CROSS JOIN method_days m JOIN chosen c ON m.service = c.service
  WHERE m.day >= p.since
  UNION
  -- Of methods whose calls alone are counted, contexts are all that is known.
  SELECT x.service, x.class, x.method, x.descriptor
  FROM params p CROSS JOIN context_days x JOIN chosen c ON x.service = c.service
  WHERE x.day >= p.since
), there AS (
  SELECT m.service, m.build, m.class, m.method, m.descriptor, min(m.source_file) AS source_file, min(m.line) AS line
  FROM methods m JOIN chosen c ON m.service = c.service AND m.build = c.build
  GROUP BY m.service, m.build, m.class, m.method, m.descriptor
)
SELECT m.service, m.build, m.class, m.method, m.descriptor, m.source_file, m.line,
  s.complete AND s.missing = 0 AND s.unended = 0 AS certain, s.missing, s.unended
FROM there m
  JOIN seen s ON m.service = s.service
  LEFT JOIN ran r ON m.service = r.service AND m.class = r.class AND m.method = r.method AND m.descriptor = r.descriptor
WHERE r.method IS NULL
ORDER BY m.service, m.build, m.class, m.line, m.method, m.descriptor
