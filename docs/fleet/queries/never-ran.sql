-- Which methods did no JVM run since a day, of classes that were loaded?
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only; empty: of all
-- param build TEXT default '': methods of this build; empty: of each service's newest build
-- days method_days from since
--
-- `certain`: all windows of the service since the day are complete. If not, nobody saw it run, which is less.
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
  SELECT m.service, m.class, m.method, m.descriptor
  FROM params p CROSS JOIN method_days m JOIN chosen c ON m.service = c.service
  WHERE m.day >= p.since
  GROUP BY m.service, m.class, m.method, m.descriptor
), there AS (
  SELECT m.service, m.build, m.class, m.method, m.descriptor, min(m.source_file) AS source_file, min(m.line) AS line
  FROM methods m JOIN chosen c ON m.service = c.service AND m.build = c.build
  GROUP BY m.service, m.build, m.class, m.method, m.descriptor
)
SELECT m.service, m.build, m.class, m.method, m.descriptor, m.source_file, m.line, s.certain
FROM there m
  JOIN seen s ON m.service = s.service
  LEFT JOIN ran r ON m.service = r.service AND m.class = r.class AND m.method = r.method AND m.descriptor = r.descriptor
WHERE r.method IS NULL
ORDER BY m.service, m.build, m.class, m.line, m.method, m.descriptor
