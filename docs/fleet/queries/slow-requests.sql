-- Which outcomes do the slow requests of all hosts share?
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only; empty: of all
-- param build TEXT default '': of this build only; empty: of all, each for itself
-- param slowest DOUBLE default 0.01: share of the requests that is slow
-- param over_ms BIGINT default 0: slow are those that take at least so many milliseconds; 0: the slowest
-- param min_share DOUBLE default 0.1: least part of the slow requests that would not be there without the outcome
-- days request_days from since
-- days request_edge_days from since
--
-- Requests are in bands of latency, each a quarter of an octave; the limit is a bound between two of them, the nearest to what
-- is asked for. Shares are of requests: a sample counts as many as it stands for. An outcome is found if slow requests take it
-- more often than others do, by more than chance explains (likelihood ratio, corrected for the outcomes that were looked at).
-- `alike`: further outcomes that exactly the same requests took. The one that stands for them is that at whose branch the most
-- of the others went another way. `hosts`: those with slow requests that took it, of `of_hosts`.
-- Code that is no cause has no class: the program was stopped by collections, or its thread had no processor, for half of the time.
WITH days AS (
  SELECT r.service, r.build, r.host, r.request, r.from_ns, r.requests, r.samples, r.weight, r.squares, r.latency_ns, r.collected, r.waited
  FROM params p CROSS JOIN request_days r
  WHERE r.day >= p.since AND (p.service = '' OR r.service = p.service) AND (p.build = '' OR r.build = p.build)
), bands AS (
  SELECT service, build, request, from_ns, sum(requests) AS requests
  FROM days
  GROUP BY service, build, request, from_ns
), above AS (
  SELECT service, build, request, from_ns,
    CAST(sum(requests) OVER (PARTITION BY service, build, request ORDER BY from_ns DESC) AS DOUBLE) AS above,
    CAST(sum(requests) OVER (PARTITION BY service, build, request) AS DOUBLE) AS requests
  FROM bands
), far AS (
  SELECT a.service, a.build, a.request, a.from_ns,
    CASE WHEN p.over_ms > 0 THEN CAST(a.from_ns AS DOUBLE) ELSE abs(ln(a.above / a.requests) - ln(p.slowest)) END AS far
  FROM params p CROSS JOIN above a
  WHERE a.above > 0.0 AND a.above < a.requests AND (p.over_ms = 0 OR a.from_ns >= p.over_ms * 1000000)
), bounds AS (
  SELECT service, build, request, from_ns, ROW_NUMBER() OVER (PARTITION BY service, build, request ORDER BY far, from_ns) AS place
  FROM far
), limits AS (
  SELECT service, build, request, from_ns AS over_ns FROM bounds WHERE place = 1
), sides AS (
  SELECT d.service, d.build, d.request, l.over_ns, sum(d.requests) AS requests,
    sum(CASE WHEN d.from_ns >= l.over_ns THEN d.requests ELSE 0 END) AS slow,
    sum(CASE WHEN d.from_ns >= l.over_ns THEN d.weight ELSE 0 END) AS slow_weight,
    sum(CASE WHEN d.from_ns >= l.over_ns THEN 0 ELSE d.weight END) AS other_weight,
    sum(CASE WHEN d.from_ns >= l.over_ns THEN d.squares ELSE 0 END) AS slow_squares,
    sum(CASE WHEN d.from_ns >= l.over_ns THEN 0 ELSE d.squares END) AS other_squares,
    sum(d.latency_ns) AS latency_ns,
    count(DISTINCT CASE WHEN d.from_ns >= l.over_ns AND d.samples > 0 THEN d.host END) AS of_hosts
  FROM limits l JOIN days d ON l.service = d.service AND l.build = d.build AND l.request = d.request
  GROUP BY d.service, d.build, d.request, l.over_ns
), ways AS (
  SELECT service, build, class, method, descriptor, graph, edge,
    min(bci) AS bci, min(line) AS line, min(condition) AS condition, min(outcome) AS outcome
  FROM branches
  WHERE NOT made
  GROUP BY service, build, class, method, descriptor, graph, edge
), taken AS (
  SELECT e.service, e.build, e.request, e.class, e.method, e.descriptor, e.graph, e.edge, w.bci, w.line, w.condition, w.outcome,
    sum(CASE WHEN e.from_ns >= l.over_ns THEN e.weight ELSE 0 END) AS slow_weight,
    sum(CASE WHEN e.from_ns >= l.over_ns THEN 0 ELSE e.weight END) AS other_weight,
    sum(e.samples) AS samples, sum(e.latency_ns) AS latency_ns,
    count(DISTINCT CASE WHEN e.from_ns >= l.over_ns THEN e.host END) AS hosts
  FROM params p CROSS JOIN limits l
    JOIN request_edge_days e ON l.service = e.service AND l.build = e.build AND l.request = e.request
    JOIN ways w ON e.service = w.service AND e.build = w.build AND e.class = w.class AND e.method = w.method
      AND e.descriptor = w.descriptor AND e.graph = w.graph AND e.edge = w.edge
  WHERE e.day >= p.since
  GROUP BY e.service, e.build, e.request, e.class, e.method, e.descriptor, e.graph, e.edge, w.bci, w.line, w.condition, w.outcome
), stopped AS (
  SELECT l.service, l.build, l.request, l.over_ns, d.host, d.from_ns, d.samples, '[collections]' AS method, d.collected AS weight
  FROM limits l JOIN days d ON l.service = d.service AND l.build = d.build AND l.request = d.request
  UNION ALL
  SELECT l.service, l.build, l.request, l.over_ns, d.host, d.from_ns, d.samples, '[waiting]' AS method, d.waited AS weight
  FROM limits l JOIN days d ON l.service = d.service AND l.build = d.build AND l.request = d.request
), things AS (
  SELECT service, build, request, class, method, descriptor, graph, edge, bci, line, condition, outcome,
    slow_weight, other_weight, samples, latency_ns, hosts,
    sum(other_weight) OVER (PARTITION BY service, build, request, class, method, descriptor, graph, bci) - other_weight AS other_ways
  FROM taken
  UNION ALL
  SELECT service, build, request, '' AS class, method, '' AS descriptor, '' AS graph, '' AS edge,
    CAST(NULL AS BIGINT) AS bci, CAST(NULL AS BIGINT) AS line, CAST(NULL AS STRING) AS condition, CAST(NULL AS STRING) AS outcome,
    sum(CASE WHEN from_ns >= over_ns THEN weight ELSE 0 END) AS slow_weight,
    sum(CASE WHEN from_ns >= over_ns THEN 0 ELSE weight END) AS other_weight,
    CAST(NULL AS BIGINT) AS samples, CAST(NULL AS BIGINT) AS latency_ns,
    count(DISTINCT CASE WHEN from_ns >= over_ns AND weight > 0 THEN host END) AS hosts,
    CAST(0 AS BIGINT) AS other_ways
  FROM stopped
  GROUP BY service, build, request, method
), shares AS (
  -- Of unequal weights it is known how many equal ones they are worth.
  SELECT t.service, t.build, t.request, t.class, t.method, t.descriptor, t.graph, t.edge, t.bci, t.line, t.condition, t.outcome,
    t.slow_weight, t.other_weight, t.samples, t.hosts, t.other_ways,
    CAST(t.slow_weight AS DOUBLE) / CAST(s.slow_weight AS DOUBLE) AS slow_share,
    CAST(t.other_weight AS DOUBLE) / CAST(s.other_weight AS DOUBLE) AS other_share,
    CAST(s.slow_weight AS DOUBLE) * CAST(s.slow_weight AS DOUBLE) / CAST(s.slow_squares AS DOUBLE) / 1000.0 AS slow_n,
    CAST(s.other_weight AS DOUBLE) * CAST(s.other_weight AS DOUBLE) / CAST(s.other_squares AS DOUBLE) / 1000.0 AS other_n,
    CAST(t.latency_ns AS DOUBLE) / CAST(t.slow_weight + t.other_weight AS DOUBLE) / 1000.0 AS with_ms,
    CASE WHEN s.slow_weight + s.other_weight > t.slow_weight + t.other_weight
      THEN CAST(s.latency_ns - t.latency_ns AS DOUBLE)
        / CAST(s.slow_weight + s.other_weight - t.slow_weight - t.other_weight AS DOUBLE) / 1000.0 END AS without_ms,
    CAST(count(*) OVER (PARTITION BY t.service, t.build, t.request) AS DOUBLE) AS looked_at
  FROM sides s JOIN things t ON s.service = t.service AND s.build = t.build AND s.request = t.request
  WHERE s.slow_squares > 0 AND s.other_squares > 0
), more AS (
  SELECT x.service, x.build, x.request, x.class, x.method, x.descriptor, x.graph, x.edge, x.bci, x.line, x.condition, x.outcome,
    x.slow_weight, x.other_weight, x.samples, x.hosts, x.other_ways, x.slow_share, x.other_share, x.with_ms, x.without_ms,
    x.slow_n, x.other_n, x.looked_at,
    (x.slow_n * x.slow_share + x.other_n * x.other_share) / (x.slow_n + x.other_n) AS all_share
  FROM params p CROSS JOIN shares x
  WHERE x.slow_share > x.other_share AND x.slow_share - x.other_share >= p.min_share * (1.0 - x.other_share)
), found AS (
  SELECT service, build, request, class, method, descriptor, graph, edge, bci, line, condition, outcome,
    hosts, slow_share, other_share, with_ms, without_ms, other_ways,
    ROW_NUMBER() OVER (
      PARTITION BY service, build, request, slow_weight, other_weight, samples
      ORDER BY other_ways DESC, class, method, descriptor, bci, graph, edge
    ) AS place,
    count(*) OVER (PARTITION BY service, build, request, slow_weight, other_weight, samples) - 1 AS alike
  FROM more
  WHERE looked_at * exp(
    - slow_n * (slow_share * ln(slow_share / all_share)
      + CASE WHEN slow_share < 1.0 THEN (1.0 - slow_share) * ln((1.0 - slow_share) / (1.0 - all_share)) ELSE 0.0 END)
    - other_n * (CASE WHEN other_share > 0.0 THEN other_share * ln(other_share / all_share) ELSE 0.0 END
      + (1.0 - other_share) * ln((1.0 - other_share) / (1.0 - all_share)))
  ) <= 0.01
), told AS (
  SELECT s.service, s.build, s.request, round(CAST(s.over_ns AS DOUBLE) / 1000000.0, 3) AS over_ms, s.slow, s.requests,
    f.hosts, s.of_hosts, round(f.slow_share, 6) AS slow_share, round(f.other_share, 6) AS other_share,
    round(f.with_ms, 3) AS with_ms, round(f.without_ms, 3) AS without_ms, f.alike,
    COALESCE(f.class, '') AS class, COALESCE(f.method, '[nothing found]') AS method, COALESCE(f.descriptor, '') AS descriptor,
    f.line, f.condition, f.outcome, f.bci, f.graph, f.edge,
    round((f.slow_share - f.other_share) / (1.0 - f.other_share), 6) AS explained, f.other_ways
  FROM sides s
    LEFT JOIN found f ON s.service = f.service AND s.build = f.build AND s.request = f.request AND f.place = 1
)
SELECT service, build, request, over_ms, slow, requests, hosts, of_hosts, slow_share, other_share, with_ms, without_ms, alike,
  class, method, descriptor, line, condition, outcome, bci, graph, edge
FROM told
ORDER BY slow DESC, service, build, request, explained DESC, other_ways DESC, class, method, descriptor, bci, graph, edge
