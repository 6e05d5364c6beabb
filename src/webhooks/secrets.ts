import type { Client } from '#src/platform/database/index.ts'
import type { SealedRecord, Sealer } from '#src/platform/security/index.ts'
import { keyOfSecret } from './signing.ts'
import type { EndpointRow } from './store.ts'

/** The context that the encryption of a secret is bound to. */
const contextOf = (id: string): string => `webhook_endpoints/${id}`

/** Secrets as we store them, and the keys that we make of them. */
export const createSecrets = (sealer: Sealer | undefined, commonSecret: string | undefined) => {
  const seal = (id: string, secret: string): Uint8Array => {
    const plain = Buffer.from(secret, 'utf8')
    return sealer === undefined ? plain : sealer.seal(plain, contextOf(id))
  }

  const open = (row: Pick<EndpointRow, 'id' | 'sealed'>, stored: Uint8Array): string => {
    if (row.sealed && sealer === undefined) {
      throw new Error('webhook secrets are sealed under TRILHO_MASTER_KEY, which is not set')
    }
    const isSealed = row.sealed && sealer !== undefined
    const plain = isSealed ? sealer.open(stored, contextOf(row.id)) : stored
    return Buffer.from(plain).toString('utf8')
  }

  const presentOf = (row: EndpointRow): string => {
    if (row.secret !== null) return open(row, row.secret)
    if (commonSecret !== undefined) return commonSecret
    throw new Error('WEBHOOK_SECRET, which signs for webhooks without their own, is not set')
  }

  /**
   * The present secret's key first, then the previous one's while both are valid.
   *
   * @throws the reason that keeps us from signing: we send nothing unsigned
   */
  const keysOf = (row: EndpointRow): readonly Uint8Array[] => {
    const present = keyOfSecret(presentOf(row))
    return row.previousSecret === null
      ? [present]
      : [present, keyOfSecret(open(row, row.previousSecret))]
  }

  return { seal, open, keysOf }
}

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
