import { type Client, deletedMax, textArray } from '#src/platform/database/index.ts'
import type { Scope, TokenGrant } from '#src/platform/security/index.ts'

export const addToken = async (
  sql: Client,
  hash: string,
  grant: Omit<TokenGrant, 'expiresAt'>,
  seconds: number,
): Promise<void> => {
  await sql`
    insert into pix_tokens (hash, key_id, scopes, certificate, expires_at)
    values (${hash}, ${grant.keyId}, ${textArray(grant.scopes)}::text::text[],
      ${grant.certificate ?? null}, now() + make_interval(secs => ${seconds}))`
}

export const findToken = async (sql: Client, hash: string): Promise<TokenGrant | undefined> => {
  const askedMs = Date.now()
  const [row] = await sql<
    { keyId: string; scopes: Scope[]; certificate: string | null; leftMs: number }[]
  >`
    select key_id as "keyId", scopes, certificate,
      extract(epoch from expires_at - now())::float8 * 1000 as "leftMs"
    from pix_tokens where hash = ${hash}`
  if (row === undefined) return undefined
  const { leftMs, certificate, ...grant } = row
  // By the clock of this process, which need not be the database's.
  const expiresAt = new Date(askedMs + leftMs)
  return { ...grant, certificate: certificate ?? undefined, expiresAt }
}

/** @returns how many it forgot, at most {@link deletedMax} */
export const forgetSomeTokens = async (sql: Client): Promise<number> =>
  (
    await sql`
      delete from pix_tokens where hash = any(array(
        select hash from pix_tokens where expires_at < now() order by expires_at limit ${deletedMax}
      ))`
  ).count
