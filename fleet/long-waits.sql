-- Rare but long: the waits for locks of at least `least_ms` milliseconds (a variable; 100 without it), those
-- first whose code rarely waits so long, with the owner that had most of each.
with contended as (
  select
    day,
    host,
    run,
    wait,
    start,
    duration_ns / 1e6 as waited_ms,
    lock_class,
    method,
    duration_ns / 1e6 >= coalesce(getvariable('least_ms'), 100) as is_long
  from waits
  semi join runs using (day, host, run)
  where kind = 'contention'
),
code as (
  select lock_class, method, count(*) as waits_of_code, count_if(is_long) as long_waits_of_code
  from contended
  group by all
),
long as (
  select *
  from contended
  where is_long
),
owners as (
  select
    day,
    host,
    run,
    wait,
    max_by(
      coalesce(owner_method, '<' || coalesce(unknown_reason, owner) || '>'),
      duration_ns
    ) as longest_owner
  from blame
  semi join long using (day, host, run, wait)
  group by all
)
select host, start, waited_ms, lock_class, method, longest_owner, long_waits_of_code, waits_of_code
from long
join owners using (day, host, run, wait)
join code using (lock_class, method)
order by long_waits_of_code / waits_of_code, waited_ms desc, lock_class, method, start, host
limit coalesce(getvariable('rows'), 20);
