-- Locks that were nested in both orders: threads owned a lock of the one class while they waited for one of the
-- other class, and somewhere, perhaps in another run on another host, it was the other way round. Such threads
-- deadlock where they meet. Only exports with --nestings know of it.
--
-- Locks of different runs are different objects, so it is their classes that are compared; pairs of one class
-- are left out. In `inverted_runs` runs the same two objects were nested in both orders. `times` and what
-- follows are of each order; the stacks are those of the code that blocked others longest.
with codes as (
  select
    day,
    host,
    run,
    outer_class,
    inner_class,
    outer_lock,
    inner_lock,
    thread,
    start_ns,
    owning_chain,
    waiting_chain,
    sum(duration_ns) as blocked_ns
  from nestings
  semi join runs using (day, host, run)
  where outer_class <> inner_class
  group by all
),
-- Once for each wait of a thread that owned another lock, however many waited for that.
nested_waits as (
  select day, host, run, outer_class, inner_class, outer_lock, inner_lock, thread, start_ns, sum(blocked_ns) as blocked_ns
  from codes
  group by all
),
orders as (
  select
    outer_class,
    inner_class,
    count(*) as times,
    count(distinct host || ' ' || run) as runs,
    count(distinct host) as hosts,
    sum(blocked_ns) / 1e9 as blocked_seconds
  from nested_waits
  group by all
),
ranked_stacks as (
  select
    outer_class,
    inner_class,
    owning_chain,
    waiting_chain,
    row_number() over (
      partition by outer_class, inner_class
      order by sum(blocked_ns) desc, owning_chain, waiting_chain
    ) as place
  from codes
  group by outer_class, inner_class, owning_chain, waiting_chain
),
-- A chain of which no frame is known has no stack.
known_stacks as (
  select chain, min(stack) as stack
  from stacks
  group by chain
),
described as (
  select
    outer_class,
    inner_class,
    coalesce(owning.stack, owning_chain) as owning_stack,
    coalesce(waiting.stack, waiting_chain) as waiting_stack
  from ranked_stacks
  left join known_stacks as owning on owning.chain = owning_chain
  left join known_stacks as waiting on waiting.chain = waiting_chain
  where place = 1
),
locks as (
  select distinct day, host, run, outer_class, inner_class, outer_lock, inner_lock
  from nested_waits
),
inverted as (
  select one.outer_class, one.inner_class, count(distinct one.host || ' ' || one.run) as runs
  from locks as one
  join locks as other
    on other.day = one.day
    and other.host = one.host
    and other.run = one.run
    and other.outer_lock = one.inner_lock
    and other.inner_lock = one.outer_lock
  group by all
)
select
  one.outer_class as first_class,
  one.inner_class as second_class,
  coalesce(inverted.runs, 0) as inverted_runs,
  one.times as times,
  one.runs as runs,
  one.hosts as hosts,
  one.blocked_seconds as blocked_seconds,
  one_code.owning_stack as owning_stack,
  one_code.waiting_stack as waiting_stack,
  other.times as reverse_times,
  other.runs as reverse_runs,
  other.hosts as reverse_hosts,
  other.blocked_seconds as reverse_blocked_seconds,
  other_code.owning_stack as reverse_owning_stack,
  other_code.waiting_stack as reverse_waiting_stack
from orders as one
join orders as other on other.outer_class = one.inner_class and other.inner_class = one.outer_class
join described as one_code on one_code.outer_class = one.outer_class and one_code.inner_class = one.inner_class
join described as other_code on other_code.outer_class = one.inner_class and other_code.inner_class = one.outer_class
left join inverted on inverted.outer_class = one.outer_class and inverted.inner_class = one.inner_class
where one.outer_class < one.inner_class
order by inverted_runs desc, one.hosts + other.hosts desc, first_class, second_class
limit coalesce(getvariable('rows'), 20);
