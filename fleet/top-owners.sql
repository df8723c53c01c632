-- The code that made others wait for locks, by release and day: over all hosts, and for each hour
-- that was traced.
with blocked as (
  select day, host, run, lock_class, owner_method, count(distinct wait) as waits, sum(duration_ns) as blocked_ns
  from blame
  where kind = 'contention' and owner = 'thread'
  group by all
),
traced as (
  select release, day, sum(duration_ns) / 3.6e12 as traced_hours
  from runs
  group by all
)
select
  runs.release,
  runs.day,
  lock_class,
  owner_method,
  count(distinct runs.host) as hosts,
  sum(blocked.waits) as waits,
  sum(blocked.blocked_ns) / 1e9 as blocked_seconds,
  sum(blocked.blocked_ns) / 1e9 / any_value(traced_hours) as blocked_seconds_per_hour
from blocked
join runs using (day, host, run)
join traced on traced.day = runs.day and traced.release is not distinct from runs.release
group by all
order by blocked_seconds desc, lock_class, owner_method, runs.day, runs.release
limit coalesce(getvariable('rows'), 20);
