import { type Client, deletedMax, textArray } from '#src/platform/database/index.ts'
import type { Scope, TokenGrant } from '#src/platform/security/index.ts'

export const addToken = async (sql: Client, hash: string, grant: TokenGrant): Promise<void> => {
  await sql`
    insert into pix_tokens (hash, key_id, scopes, certificate, expires_at)
    values (${hash}, ${grant.keyId}, ${textArray(grant.scopes)}::text::text[],
      ${grant.certificate ?? null}, ${grant.expiresAt})`
}

export const findToken = async (sql: Client, hash: string): Promise<TokenGrant | undefined> => {
  const [row] = await sql<
    { keyId: string; scopes: Scope[]; certificate: string | null; expiresAt: Date }[]
  >`
    select key_id as "keyId", scopes, certificate, expires_at as "expiresAt"
    from pix_tokens where hash = ${hash}`
  return row && { ...row, certificate: row.certificate ?? undefined }
}

/** @returns how many it forgot, at most {@link deletedMax} */
export const forgetSomeTokens = async (sql: Client): Promise<number> =>
  (
    await sql`
      delete from pix_tokens where hash = any(array(
        select hash from pix_tokens where expires_at < now() order by expires_at limit ${deletedMax}
      ))`
  ).count
