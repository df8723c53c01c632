-- For DuckDB: the tables of all runs below the directory that the variable `runs` names, as views of their
-- names; with the variables `since` and `until`, those of these days and the days between. ask.py makes the
-- same views for Spark. docs/tables.md says what is in them, docs/fleet.md how to ask.
create or replace macro is_asked_for(day) as
  day >= coalesce(getvariable('since')::date, day) and day <= coalesce(getvariable('until')::date, day);
-- The columns of the folders' names have types, as DuckDB would make a number of a host called 12.
create or replace macro all_runs(name) as table
  from read_parquet(
    getvariable('runs') || '/' || name || '/*/*/*/*.parquet',
    hive_partitioning = true,
    hive_types = {day: date, host: varchar, run: varchar},
    union_by_name = true
  )
  where is_asked_for(day);
create or replace view runs as from all_runs('runs');
create or replace view waits as from all_runs('waits');
-- Versions that did not look for nestings left no folder for them. Where all runs are of such a version there are none.
set variable has_nestings = (select count(*) > 0 from glob(getvariable('runs') || '/nestings/*/*/*/*.parquet'));
create or replace view nestings as
  from query(if(
    getvariable('has_nestings'),
    $$from all_runs('nestings')$$,
    $$select
        null::date as day, null::varchar as host, null::varchar as run, null::bigint as wait,
        null::varchar as outer_class, null::bigint as outer_lock, null::varchar as inner_class, null::bigint as inner_lock,
        null::bigint as thread, null::varchar as owning_chain, null::varchar as waiting_chain,
        null::bigint as start_ns, null::bigint as duration_ns
      limit 0$$
  ));
create or replace view blame as from all_runs('blame');
-- Call chains as texts, the innermost method first.
create or replace view stacks as
  select day, host, run, chain, string_agg(split_part(method, '(', 1), ' < ' order by depth) as stack
  from all_runs('chains')
  group by all;
