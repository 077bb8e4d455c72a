-- Where methods are in the source.
-- param service TEXT default '': of this service only; empty: of all
SELECT m.service, m.class, m.method, m.descriptor, min(m.source_file) AS source_file, min(m.line) AS line
FROM params p CROSS JOIN methods m
WHERE p.service = '' OR m.service = p.service
GROUP BY m.service, m.class, m.method, m.descriptor
ORDER BY m.service, m.class, m.method, m.descriptor
