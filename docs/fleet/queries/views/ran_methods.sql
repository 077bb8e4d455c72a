-- Methods that ran since the day, in any build of a service that is asked about.
SELECT DISTINCT m.service, m.class, m.method, m.descriptor
FROM params p CROSS JOIN method_days m JOIN chosen c ON m.service = c.service
WHERE m.day >= p.since
