-- Methods that ran since the day, in any build of a service that is asked about.
SELECT m.service, m.class, m.method, m.descriptor
FROM params p CROSS JOIN method_days m JOIN chosen c ON m.service = c.service
WHERE m.day >= p.since
UNION
-- Of methods whose calls alone are counted, contexts are all that is known.
SELECT x.service, x.class, x.method, x.descriptor
FROM params p CROSS JOIN context_days x JOIN chosen c ON x.service = c.service
WHERE x.day >= p.since
