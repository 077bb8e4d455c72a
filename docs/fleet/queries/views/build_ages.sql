-- Builds by age: 1 is the newest of its service. Those with windows since the day (`there`) come first.
SELECT b.service, b.build, CASE WHEN b.last_day >= p.since THEN 1 ELSE 0 END AS there,
  ROW_NUMBER() OVER (PARTITION BY b.service
    ORDER BY CASE WHEN b.last_day >= p.since THEN 0 ELSE 1 END, b.first_started DESC, b.build DESC) AS age
FROM params p CROSS JOIN builds b
WHERE p.service = '' OR b.service = p.service
