import type { Client } from '#src/platform/database/index.ts'
import type { SealedRecord } from '#src/platform/security/index.ts'
import { contextOf } from './secrets.ts'

const pageRows = 200

type Row = {
  readonly id: string
  readonly column: 'secret' | 'previous_secret'
  readonly sealed: Uint8Array
}

/** Every sealed secret, present or previous. */
export async function* sealedSecrets(sql: Client): AsyncGenerator<readonly SealedRecord[]> {
  let afterId = ''
  for (;;) {
    const page = await pageAfter(sql, afterId)
    const last = page.at(-1)
    if (last === undefined) return
    yield page.map(({ id, column, sealed }) => ({
      sealed,
      context: contextOf(id),
      replace: async (anew) => {
        const replaced = await sql`
          update webhook_endpoints set ${sql(column)} = ${anew}
          where id = ${id} and sealed and ${sql(column)} = ${sealed}`
        return replaced.count === 1
      },
    }))
    afterId = last.id
  }
}

const pageAfter = (sql: Client, afterId: string): Promise<readonly Row[]> =>
  sql<Row[]>`
    select e.id, s."column", s.sealed
    from (
      select id, secret, previous_secret from webhook_endpoints
      where sealed and coalesce(secret, previous_secret) is not null and id > ${afterId}
      order by id limit ${pageRows}
    ) e, lateral (
      values ('secret', e.secret), ('previous_secret', e.previous_secret)
    ) s ("column", sealed)
    where s.sealed is not null order by e.id`
