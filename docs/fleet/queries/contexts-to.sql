-- Through which chains of calls does one get to a method?
-- param to TEXT: (part of) class.method with dots, as in `Shop.price`
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only; empty: of all
-- param build TEXT default '': of this build only; empty: of all
-- days context_days from since
--
-- `share`: of all calls of the method that were counted with their context.
WITH chains AS (
  SELECT c.service, c.class, c.method, c.descriptor, c.chain, sum(c.count) AS calls, bool_and(c.exact) AS exact
  FROM params p CROSS JOIN context_days c
  WHERE c.day >= p.since AND (p.service = '' OR c.service = p.service) AND (p.build = '' OR c.build = p.build)
    AND contains(replace(c.class, '/', '.') || '.' || c.method, replace(p.to, '#', '.'))
  GROUP BY c.service, c.class, c.method, c.descriptor, c.chain
)
SELECT service, class, method, descriptor, chain, calls,
  round(CAST(calls AS DOUBLE) / CAST(sum(calls) OVER (PARTITION BY service, class, method, descriptor) AS DOUBLE), 6) AS share, exact
FROM chains
ORDER BY calls DESC, service, class, method, descriptor, chain
