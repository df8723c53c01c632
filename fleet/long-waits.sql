-- Rare but long: the waits for locks of at least `least_ms` milliseconds (a variable; 100 without it), those
-- first whose code rarely waits so long, with the owner that had most of each.
with long as (
  select
    day,
    host,
    run,
    wait,
    start,
    duration_ns / 1e6 as waited_ms,
    lock_class,
    method,
    count(*) over code as waits_of_code,
    count(*) filter (waited_ms >= coalesce(getvariable('least_ms'), 100)) over code as long_waits_of_code
  from waits
  where kind = 'contention'
  window code as (partition by lock_class, method)
  qualify waited_ms >= coalesce(getvariable('least_ms'), 100)
),
owners as (
  select
    day,
    host,
    run,
    wait,
    arg_max(coalesce(owner_method, '<' || coalesce(unknown_reason, owner) || '>'), duration_ns) as longest_owner
  from blame
  group by all
)
select host, start, waited_ms, lock_class, method, longest_owner, long_waits_of_code, waits_of_code
from long
join owners using (day, host, run, wait)
order by long_waits_of_code / waits_of_code, waited_ms desc
limit coalesce(getvariable('rows'), 20);
