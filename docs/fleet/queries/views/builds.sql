-- When each build of a service began, and the last day of which it has windows.
--
-- A build begins when a tenth of its hosts, at least two of several, have run it: no single clock decides. Windows that
-- count on the day on which they came in have no say, unless there are no others.
WITH hosts AS (
  SELECT service, build, host, min(CASE WHEN claimed IS NULL THEN started END) AS started, min(started) AS came,
    max(day) AS last_day
  FROM windows
  GROUP BY service, build, host
), ranked AS (
  SELECT service, build, started, came, last_day, count(started) OVER (PARTITION BY service, build) AS n,
    ROW_NUMBER() OVER (PARTITION BY service, build ORDER BY CASE WHEN started IS NULL THEN 1 ELSE 0 END, started) AS k
  FROM hosts
)
SELECT service, build, COALESCE(max(CASE WHEN k <= 2 OR 10 * k <= n THEN started END), min(came)) AS first_started,
  max(last_day) AS last_day
FROM ranked
GROUP BY service, build
