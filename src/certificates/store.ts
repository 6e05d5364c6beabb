import { X509Certificate } from 'node:crypto'
import { type Client, type Queryable, textArray } from '#src/platform/database/index.ts'
import {
  type Actor,
  type Answer,
  type Answered,
  type IdempotencyKey,
  replayOf,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { SealedRecord, Sealer } from '#src/platform/security/index.ts'
import { recordOf } from './check.ts'
import {
  type CertificateName,
  type CertificateRecord,
  type CertificateType,
  nameText,
} from './domain.ts'
import { MasterKeyMissingError } from './errors.ts'

/** A certificate to store. */
export type NewCertificate = {
  readonly record: CertificateRecord
  /** PKCS#8, DER. */
  readonly key: Uint8Array | undefined
}

/** Rolls the transaction back, with the claim of its Idempotency-Key. */
class ExistsError extends Error {
  override readonly name = 'ExistsError'
}

/** A folder may give a name anew, so name and fingerprint stand for what was read together. */
type CertificateIdentity = CertificateName & Pick<CertificateRecord, 'fingerprint'>

/** A store of certificates. */
export type CertificateStore = {
  readonly kind: 'database' | 'folder'
  /** False if `add` and `remove` are not offered. */
  readonly writable: boolean
  readonly list: () => Promise<readonly CertificateRecord[]>
  /** PKCS#8, DER; undefined if there is no key, or another certificate has the name by now. */
  readonly readKey: (of: CertificateIdentity) => Promise<Uint8Array | undefined>
  /** The highest number that was ever given; 0: none was. */
  readonly lastVersion: (of: Omit<CertificateName, 'version'>) => Promise<number>
  /** False if the name or the same certificate exists already, or the name was another's. */
  readonly add: (certificate: NewCertificate, actor: Actor) => Promise<boolean>
  /**
   * As `add`, once under a key, whose answer it keeps; undefined if it exists. Only writable stores over HTTP have it.
   */
  readonly addOnce?: (
    certificate: NewCertificate,
    actor: Actor,
    key: IdempotencyKey,
    answer: Answer,
  ) => Promise<Answered | undefined>
  /** The answer kept under a key, of a store that keeps answers. */
  readonly replayOf?: (key: IdempotencyKey) => Promise<Answered | undefined>
  /** False if there was none. */
  readonly remove: (name: CertificateName, actor: Actor) => Promise<boolean>
}

type Row = {
  readonly ispb: string
  readonly type: string
  readonly version: number
  readonly certificate: string
  readonly chain: readonly string[]
  readonly has_key: boolean
}

/** Ties a sealed key to its row, so that it cannot be moved to another certificate. */
const placeOf = (name: CertificateName): string => `certificates ${nameText(name)}`

/** Every sealed key, one certificate at a time, because there are few. */
export async function* sealedKeys(sql: Queryable): AsyncGenerator<readonly SealedRecord[]> {
  const rows = await sql<{ ispb: string; type: string; version: number; sealed_key: Uint8Array }[]>`
    select ispb, type, version, sealed_key from certificates
    where sealed_key is not null order by ispb, type, version`
  yield rows.map(({ ispb, type, version, sealed_key: before }) => ({
    sealed: new Uint8Array(before),
    context: placeOf({ ispb, type: type as CertificateType, version }),
    replace: async (sealed) => {
      const replaced = await sql`
        update certificates set sealed_key = ${sealed}
        where ispb = ${ispb} and type = ${type} and version = ${version} and sealed_key = ${before}`
      return replaced.count === 1
    },
  }))
}

const wasAnothers = async (
  tx: Queryable,
  { ispb, type, version, fingerprint }: CertificateRecord,
): Promise<boolean> => {
  const { count } = await tx`
    select from removed_certificates
    where ispb = ${ispb} and type = ${type} and version = ${version}
      and fingerprint <> ${fingerprint}`
  return count > 0
}

/** Certificates in PostgreSQL; private keys sealed, never in clear. */
export const createDatabaseStore = (sql: Client, sealer: Sealer | undefined): CertificateStore => {
  const needSealer = (): Sealer => {
    if (sealer === undefined) throw new MasterKeyMissingError()
    return sealer
  }
  const insert = async (
    { record, key }: NewCertificate,
    actor: Actor,
    once?: IdempotencyKey,
    answer: Answer = { status: 201, body: '' },
  ): Promise<Answered | undefined> => {
    const sealed = key === undefined ? null : needSealer().seal(key, placeOf(record))
    try {
      return await runOnce(sql, once, async (tx) => {
        const added = await tx`
          insert into certificates
            (ispb, type, version, fingerprint, not_after, certificate, chain, sealed_key)
          values (${record.ispb}, ${record.type}, ${record.version}, ${record.fingerprint},
            ${record.notAfter.toISOString()}, ${record.certificate},
            ${textArray(record.chain)}::text::text[], ${sealed})
          on conflict do nothing`
        if (added.count === 0 || (await wasAnothers(tx, record))) throw new ExistsError()
        const object = nameText(record)
        await writeAudit(tx, { actor, action: 'certificates.import', object, outcome: 'imported' })
        return answer
      })
    } catch (error) {
      if (error instanceof ExistsError) return undefined
      throw error
    }
  }
  return {
    kind: 'database',
    writable: true,
    list: async () => {
      const rows = await sql<Row[]>`
        select ispb, type, version, certificate, chain, sealed_key is not null as has_key
        from certificates order by ispb, type, version`
      return rows.map(({ ispb, type, version, certificate, chain, has_key }) =>
        recordOf(
          { ispb, type: type as CertificateType, version },
          new X509Certificate(certificate),
          chain.map((pem) => new X509Certificate(pem)),
          has_key,
        ),
      )
    },
    readKey: async ({ fingerprint, ...name }) => {
      const [row] = await sql<{ sealed_key: Uint8Array | null }[]>`
        select sealed_key from certificates
        where ispb = ${name.ispb} and type = ${name.type} and version = ${name.version}
          and fingerprint = ${fingerprint}`
      const sealed = row?.sealed_key
      return sealed == null ? undefined : needSealer().open(new Uint8Array(sealed), placeOf(name))
    },
    replayOf: (key) => replayOf(sql, key),
    add: async (certificate, actor) => (await insert(certificate, actor)) !== undefined,
    addOnce: insert,
    lastVersion: async ({ ispb, type }) => {
      const [row] = await sql<{ last: number }[]>`
        select greatest(0,
          (select max(version) from certificates where ispb = ${ispb} and type = ${type}),
          (select max(version) from removed_certificates where ispb = ${ispb} and type = ${type})
        ) as last`
      return row?.last ?? 0
    },
    remove: (name, actor) =>
      sql.begin(async (tx) => {
        const removed = await tx`
          with gone as (
            delete from certificates
            where ispb = ${name.ispb} and type = ${name.type} and version = ${name.version}
            returning ispb, type, version, fingerprint),
          noted as (
            insert into removed_certificates (ispb, type, version, fingerprint)
            select ispb, type, version, fingerprint from gone on conflict do nothing)
          select from gone`
        if (removed.count === 0) return false
        const object = nameText(name)
        await writeAudit(tx, { actor, action: 'certificates.delete', object, outcome: 'deleted' })
        return true
      }),
  }
}
