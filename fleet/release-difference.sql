-- The change of the waiting from one release to another: by the code that made others wait, how
-- many seconds threads were blocked in each hour that was traced. Variables `before` and `after`
-- name the releases.
--
-- Each run counts once, as those of one program under alike load do. The interval is Welch's at 95
-- percent, by the normal distribution: ten runs of each release make it worth looking at.
with selected as (
  select day, host, run, duration_ns / 3.6e12 as hours, release = getvariable('after') as is_after
  from runs
  where release in (getvariable('before'), getvariable('after')) and duration_ns > 0
),
blocked as (
  select day, host, run, lock_class, owner_method, sum(duration_ns) / 1e9 as seconds
  from blame
  join selected using (day, host, run)
  where kind = 'contention' and owner = 'thread'
  group by all
),
-- A run in which nobody waited for some code counts, too.
rates as (
  select is_after, lock_class, owner_method, coalesce(seconds, 0) / hours as per_hour
  from selected
  cross join (select distinct lock_class, owner_method from blocked) as code
  left join blocked using (day, host, run, lock_class, owner_method)
),
sides as (
  select
    lock_class,
    owner_method,
    avg(per_hour) filter (where not is_after) as before_per_hour,
    avg(per_hour) filter (where is_after) as after_per_hour,
    1.96 * sqrt(
      var_samp(per_hour) filter (where not is_after) / count(*) filter (where not is_after)
      + var_samp(per_hour) filter (where is_after) / count(*) filter (where is_after)
    ) as half_width
  from rates
  group by all
)
select
  lock_class,
  owner_method,
  before_per_hour,
  after_per_hour,
  after_per_hour - before_per_hour as difference,
  difference - half_width as least,
  difference + half_width as most,
  least > 0 or most < 0 as is_certain
from sides
order by abs(difference) desc, lock_class, owner_method
limit coalesce(getvariable('rows'), 20);
