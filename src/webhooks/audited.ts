import { type AuditEntry, writeAudit } from '#src/platform/http/index.ts'
import { type EndpointRow, type EndpointStore, endpointStatements } from './store.ts'

/** Changes an endpoint and notes who did it, in one transaction; a call that changes nothing leaves no entry. */
export const audited = async <T extends EndpointRow | boolean | undefined>(
  store: EndpointStore,
  entry: AuditEntry,
  work: (statements: ReturnType<typeof endpointStatements>) => Promise<T>,
): Promise<T> => {
  const done = await store.sql.begin(async (tx) => {
    const result = await work(endpointStatements(tx))
    if (result !== undefined && result !== false) await writeAudit(tx, entry)
    return { result }
  })
  return done.result
}
