-- The tables of all runs below the directory that the variable `runs` names, as views of their names.
-- docs/tables.md says what is in them, docs/fleet.md how to ask.
create or replace view runs as
  from read_parquet(getvariable('runs') || '/runs/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
create or replace view waits as
  from read_parquet(getvariable('runs') || '/waits/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
create or replace view blame as
  from read_parquet(getvariable('runs') || '/blame/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
