-- Which hosts run other paths than the rest of the fleet? All hosts at once, with sums of their own: what `odd-hosts` has to answer.
-- param day DATE default newest: the day that is looked at
-- param service TEXT default '': of this service only; empty: of all
-- param build TEXT default '': of this build only; empty: of all, each for itself
-- param min_count BIGINT default 100: methods with at least so many path ends on a host
-- days paths from day to day
--
-- `distance`: total-variation distance between the host's shares of a method's paths and those of all others of its service and
-- build, from 0 (the same) to 1 (no path in common); averaged over methods, each with the mean of its shares of the host's and of
-- the others' path ends, so that a method counts that only one of both runs often.
-- `others`: the average distance of the other hosts. The method and the path are those that differ most.
-- once ways, hosts, counted, fleet_paths, pairs, weighed
-- Hosts, methods and paths have numbers in between: what grows with the fleet holds numbers, names are put back at the end.
WITH chosen AS (
  SELECT c.service, c.build, c.host, c.class, c.method, c.descriptor, c.graph, c.path, c.count
  FROM params p CROSS JOIN paths c
  WHERE c.day = p.day AND (p.service = '' OR c.service = p.service) AND (p.build = '' OR c.build = p.build)
), hosts AS (
  SELECT service, build, host, DENSE_RANK() OVER (ORDER BY service, build) AS b,
    ROW_NUMBER() OVER (ORDER BY service, build, host) AS h
  FROM (SELECT service, build, host FROM chosen GROUP BY service, build, host) x
), ways AS (
  SELECT service, build, class, method, descriptor, graph, path,
    DENSE_RANK() OVER (ORDER BY service, build, class, method, descriptor, graph) AS m,
    ROW_NUMBER() OVER (ORDER BY service, build, class, method, descriptor, graph, path) AS w
  FROM (SELECT service, build, class, method, descriptor, graph, path FROM chosen
    GROUP BY service, build, class, method, descriptor, graph, path) x
), counted AS (
  -- In joins the small side comes first: that is the one that is kept in memory.
  SELECT x.b, x.h, w.m, w.w, sum(x.count) AS n
  FROM ways w JOIN (
    SELECT h.b, h.h, c.service, c.build, c.class, c.method, c.descriptor, c.graph, c.path, c.count
    FROM hosts h JOIN chosen c ON h.service = c.service AND h.build = c.build AND h.host = c.host
  ) x ON w.service = x.service AND w.build = x.build AND w.class = x.class AND w.method = x.method
    AND w.descriptor = x.descriptor AND w.graph = x.graph AND w.path = x.path
  GROUP BY x.b, x.h, w.m, w.w
), fleet_paths AS (
  SELECT m, w, sum(n) AS n FROM counted GROUP BY m, w
), fleet_methods AS (
  SELECT m, sum(n) AS n FROM counted GROUP BY m
), host_methods AS (
  SELECT c.b, c.h, c.m, sum(c.n) AS n
  FROM params p CROSS JOIN counted c
  GROUP BY c.b, c.h, c.m, p.min_count
  HAVING sum(c.n) >= p.min_count
), sizes AS (
  SELECT b, count(DISTINCT h) AS hosts, sum(n) AS n FROM counted GROUP BY b
), totals AS (
  SELECT h, sum(n) AS n FROM counted GROUP BY h
), pairs AS (
  SELECT o.b, o.h, o.m, o.n AS own, f.n - o.n AS rest, o.host_total, s.n - o.host_total AS rest_total
  FROM fleet_methods f JOIN (
    SELECT o.b, o.h, o.m, o.n, t.n AS host_total FROM totals t JOIN host_methods o ON o.h = t.h
  ) o ON o.m = f.m
    JOIN sizes s ON o.b = s.b
  WHERE s.hosts > 1
), differences AS (
  -- Of the others' paths, those that the host never took are what its own leave over: 1 less their shares.
  SELECT o.b, o.h, o.m, o.own, o.rest, o.host_total, o.rest_total,
    CASE WHEN o.rest = 0 THEN 1.0 ELSE 0.5 * (
      sum(abs(CAST(c.n AS DOUBLE) / CAST(o.own AS DOUBLE) - CASE WHEN o.rest = 0 THEN 0.0 ELSE CAST(c.all_n - c.n AS DOUBLE) / CAST(o.rest AS DOUBLE) END))
      + CAST(o.rest - sum(c.all_n - c.n) AS DOUBLE) / CASE WHEN o.rest = 0 THEN 1.0 ELSE CAST(o.rest AS DOUBLE) END) END AS distance
  FROM pairs o JOIN (
    SELECT c.h, c.m, c.n, f.n AS all_n FROM fleet_paths f JOIN counted c ON f.w = c.w
  ) c ON o.h = c.h AND o.m = c.m
  GROUP BY o.b, o.h, o.m, o.own, o.rest, o.host_total, o.rest_total
), weighed AS (
  SELECT b, h, m, own, rest,
    round(distance, 9) AS distance,
    0.5 * (CAST(own AS DOUBLE) / CAST(host_total AS DOUBLE)
      + CASE WHEN rest_total = 0 THEN 0.0 ELSE CAST(rest AS DOUBLE) / CAST(rest_total AS DOUBLE) END) AS weight
  FROM differences
), by_host AS (
  SELECT b, h, sum(weight * distance) / sum(weight) AS distance
  FROM weighed
  GROUP BY b, h
), beside AS (
  SELECT h, distance,
    sum(distance) OVER (PARTITION BY b) - distance AS sum_of_others,
    count(*) OVER (PARTITION BY b) - 1 AS others
  FROM by_host
), ranked AS (
  -- Numbers of methods are in the order of their names.
  SELECT h, m, own, rest, distance, ROW_NUMBER() OVER (PARTITION BY h ORDER BY weight * distance DESC, m) AS place
  FROM weighed
), paths_of_it AS (
  SELECT r.h, f.w,
    CAST(COALESCE(c.n, 0) AS DOUBLE) / CAST(r.own AS DOUBLE) AS share,
    CASE WHEN r.rest = 0 THEN 0.0 ELSE CAST(f.n - COALESCE(c.n, 0) AS DOUBLE) / CAST(r.rest AS DOUBLE) END AS others_share
  FROM ranked r
    JOIN fleet_paths f ON r.m = f.m
    LEFT JOIN counted c ON r.h = c.h AND f.w = c.w
  WHERE r.place = 1
), farthest AS (
  SELECT h, w, share, others_share,
    ROW_NUMBER() OVER (PARTITION BY h ORDER BY abs(share - others_share) DESC, share DESC, w) AS place
  FROM paths_of_it
), texts AS (
  SELECT service, build, class, method, descriptor, graph, path, min(text) AS text
  FROM path_texts
  GROUP BY service, build, class, method, descriptor, graph, path
)
SELECT o.service, o.build, o.host, round(b.distance, 6) AS distance,
  round(CASE WHEN b.others > 0 THEN b.sum_of_others / CAST(b.others AS DOUBLE) END, 6) AS others,
  w.class, w.method, w.descriptor, round(r.distance, 6) AS method_distance,
  t.text, round(f.share, 6) AS share, round(f.others_share, 6) AS others_share, w.path
FROM beside b
  JOIN ranked r ON b.h = r.h AND r.place = 1
  JOIN farthest f ON b.h = f.h AND f.place = 1
  JOIN hosts o ON b.h = o.h
  JOIN ways w ON f.w = w.w
  LEFT JOIN texts t ON w.service = t.service AND w.build = t.build AND w.class = t.class AND w.method = t.method
    AND w.descriptor = t.descriptor AND w.graph = t.graph AND w.path = t.path
ORDER BY round(b.distance, 6) DESC, o.service, o.build, o.host
