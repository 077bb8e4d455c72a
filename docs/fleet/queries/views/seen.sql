-- How much of a service was seen since the day: what did not run is certain only if nothing is missing.
--
-- `complete`: all windows that came in are. `missing`: windows that did not come in, although later ones of their
-- recordings did; `lacking`: the number of these recordings. `unended`: recordings without their last window.
WITH recordings AS (
  SELECT w.service, w.jvm, bool_and(w.complete OR w.day < p.since) AS complete,
    min(CASE WHEN w.day >= p.since THEN w.window END) AS first_window,
    max(CASE WHEN w.is_last THEN 1 ELSE 0 END) AS ended
  FROM params p CROSS JOIN windows w JOIN chosen c ON w.service = c.service
  WHERE w.day + INTERVAL '1' DAY >= p.since
  GROUP BY w.service, w.jvm
), lacking AS (
  SELECT r.service, r.jvm, sum(g.to_window - g.from_window + 1) AS windows
  FROM gaps g JOIN recordings r ON g.jvm = r.jvm
  WHERE g.to_window + 1 >= r.first_window
  GROUP BY r.service, r.jvm
)
SELECT r.service, bool_and(r.complete) AS complete, CAST(COALESCE(sum(l.windows), 0) AS BIGINT) AS missing,
  count(l.jvm) AS lacking, sum(1 - r.ended) AS unended
FROM recordings r LEFT JOIN lacking l ON r.service = l.service AND r.jvm = l.jvm
-- After a last window of the day before, the next one would be of the day itself.
WHERE r.first_window IS NOT NULL OR r.ended = 0
GROUP BY r.service
HAVING count(r.first_window) > 0
