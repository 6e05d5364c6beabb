import { deadLetterHeaders } from '#src/platform/broker/index.ts'
import { type Client, type Migration, pendingMigrations } from '#src/platform/database/index.ts'
import { reasonOf } from '../doctor/reason.ts'

/** The questions to a database: they answer with names, counts and times of ours, and with no row of anybody. */
const questions: Readonly<Record<string, string>> = {
  server: `
    select name, setting, unit from pg_settings
    where name in ('server_version', 'max_connections', 'shared_buffers', 'work_mem', 'wal_level',
      'synchronous_commit', 'fsync', 'full_page_writes', 'data_checksums', 'autovacuum',
      'autovacuum_vacuum_cost_limit', 'checkpoint_timeout', 'max_wal_size', 'random_page_cost',
      'statement_timeout', 'idle_in_transaction_session_timeout', 'TimeZone', 'jit')
    order by name`,
  migrations: `
    select name, kind, applied_at from schema_migrations order by name`,
  tables: `
    select relname as table, n_live_tup::float8 as rows, n_dead_tup::float8 as dead_rows,
      pg_total_relation_size(relid)::float8 as bytes, last_autovacuum, last_autoanalyze,
      seq_scan::float8 as sequential_scans, idx_scan::float8 as index_scans
    from pg_stat_user_tables order by pg_total_relation_size(relid) desc, relname limit 300`,
  indexes_not_valid: `
    select indexrelid::regclass::text as index from pg_index where not indisvalid`,
  sessions: `
    select state, wait_event_type, wait_event, count(*)::int as sessions,
      round(max(extract(epoch from now() - xact_start)))::int as oldest_transaction_seconds
    from pg_stat_activity where datname = current_database()
    group by 1, 2, 3 order by 4 desc`,
  waiting_for_locks: `
    select mode, coalesce(relation::regclass::text, locktype) as of, count(*)::int as waiting
    from pg_locks where not granted group by 1, 2 order by 3 desc limit 50`,
  replication: `
    select state, sync_state, (pg_wal_lsn_diff(sent_lsn, replay_lsn))::float8 as bytes_behind
    from pg_stat_replication`,
  dead_letters: `
    select headers ->> '${deadLetterHeaders.topic}' as topic, headers ->> '${deadLetterHeaders.errorCode}' as code,
      count(*)::int as messages, min(published_at) as oldest
    from (select headers, published_at from broker_dead_letters order by id desc limit 10000) newest
    group by 1, 2 order by 3 desc limit 100`,
  lanes: `
    select topic, count(*)::int as lanes, count(*) filter (where until > now())::int as read
    from broker_lanes group by 1 order by 1`,
  jobs: `
    select name, until, until > now() as is_held from job_leases order by name`,
}

/** Each answer stands alone: a question that fails gives its reason. */
export const databaseFacts = async (
  sql: Client,
  dsn: string,
  migrations: readonly Migration[],
): Promise<Readonly<Record<string, unknown>>> => {
  const facts: Record<string, unknown> = {}
  const ask = async (name: string, answer: () => Promise<unknown>): Promise<void> => {
    facts[name] = await answer().catch((error: unknown) => ({ error: reasonOf(error) }))
  }
  for (const [name, text] of Object.entries(questions)) {
    await ask(name, () => sql.unsafe(text))
  }
  await ask('missing_migrations', () => pendingMigrations(dsn, migrations))
  return facts
}
