-- For DuckDB: the tables of all runs below the directory that the variable `runs` names, as views of their
-- names; with the variables `since` and `until`, those of these days and the days between. ask.py makes the
-- same views for Spark. docs/tables.md says what is in them, docs/fleet.md how to ask.
create or replace macro is_asked_for(day) as
  day >= coalesce(getvariable('since')::date, day) and day <= coalesce(getvariable('until')::date, day);
create or replace view runs as
  from read_parquet(getvariable('runs') || '/runs/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true)
  where is_asked_for(day);
create or replace view waits as
  from read_parquet(getvariable('runs') || '/waits/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true)
  where is_asked_for(day);
create or replace view nestings as
  from read_parquet(getvariable('runs') || '/nestings/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true)
  where is_asked_for(day);
create or replace view blame as
  from read_parquet(getvariable('runs') || '/blame/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true)
  where is_asked_for(day);
-- Call chains as texts, the innermost method first.
create or replace view stacks as
  select day, host, run, chain, string_agg(split_part(method, '(', 1), ' < ' order by depth) as stack
  from read_parquet(getvariable('runs') || '/chains/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true)
  where is_asked_for(day)
  group by all;
