-- Which methods did no JVM run since a day, of classes that were loaded?
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only; empty: of all
-- param build TEXT default '': methods of this build; empty: of each service's newest build
-- days method_days from since
-- views builds, build_ages, chosen, seen, ran_methods
--
-- `certain`, `missing`, `lacking`, `unended`: as `never-taken` has them.
WITH there AS (
  SELECT m.service, m.build, m.class, m.method, m.descriptor, min(m.source_file) AS source_file, min(m.line) AS line
  FROM methods m JOIN chosen c ON m.service = c.service AND m.build = c.build
  GROUP BY m.service, m.build, m.class, m.method, m.descriptor
)
SELECT m.service, m.build, m.class, m.method, m.descriptor, m.source_file, m.line,
  s.complete AND s.missing = 0 AND s.unended = 0 AS certain, s.missing, s.lacking, s.unended
FROM there m
  JOIN seen s ON m.service = s.service
  LEFT JOIN ran_methods r ON m.service = r.service AND m.class = r.class AND m.method = r.method AND m.descriptor = r.descriptor
WHERE r.method IS NULL
ORDER BY m.service, m.build, m.class, m.line, m.method, m.descriptor
