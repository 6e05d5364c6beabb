import { type Client, deletedMax, textArray } from '#src/platform/database/index.ts'
import type { Scope, TokenGrant } from '#src/platform/security/index.ts'

export type NewToken = Omit<TokenGrant, 'expiresAt' | 'secretHash'> & {
  readonly secretHash: string
  readonly seconds: number
  /** When its key ends, or the secret that it is issued for; undefined: never. */
  readonly notAfter: Date | undefined
}

/** @returns for how many seconds it counts */
export const addToken = async (
  sql: Client,
  hash: string,
  { keyId, secretHash, scopes, certificate, seconds, notAfter }: NewToken,
): Promise<number> => {
  const [row] = await sql<{ left: number }[]>`
    insert into pix_tokens (hash, key_id, secret_hash, scopes, certificate, expires_at)
    values (${hash}, ${keyId}, ${secretHash}, ${textArray(scopes)}::text::text[],
      ${certificate ?? null}, least(now() + make_interval(secs => ${seconds}),
        ${notAfter?.toISOString() ?? null}::text::timestamptz))
    returning floor(extract(epoch from expires_at - now()))::int as left`
  return Math.max(0, row?.left ?? 0)
}

export const findToken = async (sql: Client, hash: string): Promise<TokenGrant | undefined> => {
  const askedMs = Date.now()
  const [row] = await sql<
    {
      keyId: string
      secretHash: string | null
      scopes: Scope[]
      certificate: string | null
      leftMs: number
    }[]
  >`
    select key_id as "keyId", secret_hash as "secretHash", scopes, certificate,
      extract(epoch from expires_at - now())::float8 * 1000 as "leftMs"
    from pix_tokens where hash = ${hash}`
  if (row === undefined) return undefined
  const { leftMs, secretHash, certificate, keyId, scopes } = row
  // By the clock of this process, which need not be the database's.
  const expiresAt = new Date(askedMs + leftMs)
  return {
    keyId,
    secretHash: secretHash ?? undefined,
    scopes,
    certificate: certificate ?? undefined,
    expiresAt,
  }
}

/** @returns how many it forgot, at most {@link deletedMax} */
export const forgetSomeTokens = async (sql: Client): Promise<number> =>
  (
    await sql`
      delete from pix_tokens where hash = any(array(
        select hash from pix_tokens where expires_at < now() order by expires_at limit ${deletedMax}
      ))`
  ).count
