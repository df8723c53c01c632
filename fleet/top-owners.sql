-- Which code made others wait for locks, by release and day: over all hosts, and for each hour that
-- was traced.
with traced as (
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
  count(distinct (runs.host, runs.run, wait)) as waits,
  sum(blame.duration_ns) / 1e9 as blocked_seconds,
  sum(blame.duration_ns) / 1e9 / any_value(traced_hours) as blocked_seconds_per_hour
from blame
join runs using (day, host, run)
join traced on traced.day = runs.day and traced.release is not distinct from runs.release
where kind = 'contention' and owner = 'thread'
group by all
order by blocked_seconds desc
limit coalesce(getvariable('rows'), 20);
