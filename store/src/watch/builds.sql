-- When each build of a service began.
-- param service TEXT default '': of this service only; empty: of all
-- views builds
SELECT b.service, b.build, CAST(b.first_started AS DATE) AS day
FROM params p CROSS JOIN builds b
WHERE p.service = '' OR b.service = p.service
ORDER BY b.service, day, b.build
