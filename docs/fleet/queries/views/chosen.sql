-- The builds that are asked about: the given one, else each service's newest.
SELECT a.service, a.build, a.there, a.age
FROM params p CROSS JOIN build_ages a
WHERE (p.build = '' AND a.age = 1) OR a.build = p.build
