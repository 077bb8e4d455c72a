-- Which hosts run other paths than the rest of the fleet?
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
WITH counted AS (
  SELECT c.service, c.build, c.host, c.class, c.method, c.descriptor, c.graph, c.path, sum(c.count) AS n
  FROM params p CROSS JOIN paths c
  WHERE c.day = p.day AND (p.service = '' OR c.service = p.service) AND (p.build = '' OR c.build = p.build)
  GROUP BY c.service, c.build, c.host, c.class, c.method, c.descriptor, c.graph, c.path
), fleet_paths AS (
  SELECT service, build, class, method, descriptor, graph, path, sum(n) AS n
  FROM counted
  GROUP BY service, build, class, method, descriptor, graph, path
), fleet_methods AS (
  SELECT service, build, class, method, descriptor, graph, sum(n) AS n
  FROM fleet_paths
  GROUP BY service, build, class, method, descriptor, graph
), host_methods AS (
  SELECT c.service, c.build, c.host, c.class, c.method, c.descriptor, c.graph, sum(c.n) AS n
  FROM params p CROSS JOIN counted c
  GROUP BY c.service, c.build, c.host, c.class, c.method, c.descriptor, c.graph, p.min_count
  HAVING sum(c.n) >= p.min_count
), sizes AS (
  SELECT service, build, count(DISTINCT host) AS hosts, sum(n) AS n
  FROM counted
  GROUP BY service, build
), totals AS (
  SELECT service, build, host, sum(n) AS n
  FROM counted
  GROUP BY service, build, host
), both AS (
  SELECT h.service, h.build, h.host, h.class, h.method, h.descriptor, h.graph, h.n AS own,
    f.n - h.n AS rest, t.n AS host_total, s.n - t.n AS rest_total
  FROM host_methods h
    JOIN fleet_methods f ON h.service = f.service AND h.build = f.build AND h.class = f.class AND h.method = f.method
      AND h.descriptor = f.descriptor AND h.graph = f.graph
    JOIN sizes s ON h.service = s.service AND h.build = s.build
    JOIN totals t ON h.service = t.service AND h.build = t.build AND h.host = t.host
  WHERE s.hosts > 1
), differences AS (
  -- Of the others' paths, those that the host never took are what its own leave over: 1 less their shares.
  SELECT b.service, b.build, b.host, b.class, b.method, b.descriptor, b.graph, b.own, b.rest, b.host_total, b.rest_total,
    CASE WHEN b.rest = 0 THEN 1.0 ELSE 0.5 * (
      sum(abs(CAST(c.n AS DOUBLE) / CAST(b.own AS DOUBLE) - CASE WHEN b.rest = 0 THEN 0.0 ELSE CAST(f.n - c.n AS DOUBLE) / CAST(b.rest AS DOUBLE) END))
      + CAST(b.rest - sum(f.n - c.n) AS DOUBLE) / CASE WHEN b.rest = 0 THEN 1.0 ELSE CAST(b.rest AS DOUBLE) END) END AS distance
  FROM both b
    JOIN counted c ON b.service = c.service AND b.build = c.build AND b.host = c.host AND b.class = c.class AND b.method = c.method
      AND b.descriptor = c.descriptor AND b.graph = c.graph
    JOIN fleet_paths f ON c.service = f.service AND c.build = f.build AND c.class = f.class AND c.method = f.method
      AND c.descriptor = f.descriptor AND c.graph = f.graph AND c.path = f.path
  GROUP BY b.service, b.build, b.host, b.class, b.method, b.descriptor, b.graph, b.own, b.rest, b.host_total, b.rest_total
), weighed AS (
  SELECT service, build, host, class, method, descriptor, graph, own, rest,
    round(distance, 9) AS distance,
    0.5 * (CAST(own AS DOUBLE) / CAST(host_total AS DOUBLE)
      + CASE WHEN rest_total = 0 THEN 0.0 ELSE CAST(rest AS DOUBLE) / CAST(rest_total AS DOUBLE) END) AS weight
  FROM differences
), by_host AS (
  SELECT service, build, host, sum(weight * distance) / sum(weight) AS distance
  FROM weighed
  GROUP BY service, build, host
), beside AS (
  SELECT service, build, host, distance,
    sum(distance) OVER (PARTITION BY service, build) - distance AS sum_of_others,
    count(*) OVER (PARTITION BY service, build) - 1 AS others
  FROM by_host
), ranked AS (
  SELECT service, build, host, class, method, descriptor, graph, own, rest, distance, weight,
    ROW_NUMBER() OVER (PARTITION BY service, build, host
      ORDER BY weight * distance DESC, class, method, descriptor, graph) AS place
  FROM weighed
), paths_of_it AS (
  SELECT r.service, r.build, r.host, f.path,
    CAST(COALESCE(c.n, 0) AS DOUBLE) / CAST(r.own AS DOUBLE) AS share,
    CASE WHEN r.rest = 0 THEN 0.0 ELSE CAST(f.n - COALESCE(c.n, 0) AS DOUBLE) / CAST(r.rest AS DOUBLE) END AS others_share
  FROM ranked r
    JOIN fleet_paths f ON r.service = f.service AND r.build = f.build AND r.class = f.class AND r.method = f.method
      AND r.descriptor = f.descriptor AND r.graph = f.graph
    LEFT JOIN counted c ON r.service = c.service AND r.build = c.build AND r.host = c.host AND r.class = c.class AND r.method = c.method
      AND r.descriptor = c.descriptor AND r.graph = c.graph AND f.path = c.path
  WHERE r.place = 1
), farthest AS (
  SELECT service, build, host, path, share, others_share,
    ROW_NUMBER() OVER (PARTITION BY service, build, host ORDER BY abs(share - others_share) DESC, share DESC, path) AS place
  FROM paths_of_it
), texts AS (
  SELECT service, build, class, method, descriptor, graph, path, min(text) AS text
  FROM path_texts
  GROUP BY service, build, class, method, descriptor, graph, path
)
SELECT b.service, b.build, b.host, round(b.distance, 6) AS distance,
  round(CASE WHEN b.others > 0 THEN b.sum_of_others / CAST(b.others AS DOUBLE) END, 6) AS others,
  r.class, r.method, r.descriptor, round(r.distance, 6) AS method_distance,
  t.text, round(f.share, 6) AS share, round(f.others_share, 6) AS others_share, f.path
FROM beside b
  JOIN ranked r ON b.service = r.service AND b.build = r.build AND b.host = r.host AND r.place = 1
  JOIN farthest f ON b.service = f.service AND b.build = f.build AND b.host = f.host AND f.place = 1
  LEFT JOIN texts t ON r.service = t.service AND r.build = t.build AND r.class = t.class AND r.method = t.method
    AND r.descriptor = t.descriptor AND r.graph = t.graph AND f.path = t.path
ORDER BY round(b.distance, 6) DESC, b.service, b.build, b.host
