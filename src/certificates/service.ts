import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto'
import type { Actor, Answer, Answered, IdempotencyKey } from '#src/platform/http/index.ts'
import {
  type CertificateProblem,
  checkCertificate,
  orderChain,
  readCertificates,
  readKey,
  recordOf,
} from './check.ts'
import {
  type CertificateName,
  type CertificateRecord,
  type CertificateType,
  nameText,
  versionMax,
} from './domain.ts'
import { EncryptedKeyError } from './encrypted-key.ts'
import { PemError, pemBlocks } from './pem.ts'
import { Pkcs12Error } from './pkcs12.ts'
import { createPkcs12Opener, Pkcs12BusyError, type Pkcs12Opener } from './pkcs12-thread.ts'
import type { CertificateStore, NewCertificate } from './store.ts'

/** The material to import: a PKCS#12 file, or PEM text with the certificate, its chain and its key. */
export type CertificateSource =
  | { readonly format: 'pkcs12'; readonly content: Uint8Array; readonly password: string }
  | { readonly format: 'pem'; readonly content: string; readonly password?: string | undefined }

/** @property version - by default the next free one */
export type ImportRequest = {
  readonly ispb: string
  readonly type: CertificateType
  readonly version: number | undefined
  readonly source: CertificateSource
}

export type ImportOutcome =
  | { readonly ok: true; readonly record: CertificateRecord }
  | { readonly ok: false; readonly kind: 'wrong_password'; readonly message: string }
  | { readonly ok: false; readonly kind: 'unreadable'; readonly message: string }
  | {
      readonly ok: false
      readonly kind: 'unusable'
      readonly problems: readonly CertificateProblem[]
    }
  | { readonly ok: false; readonly kind: 'exists'; readonly name: string }
  | { readonly ok: false; readonly kind: 'read_only' }
  | { readonly ok: false; readonly kind: 'busy' }

type Material = {
  readonly key: KeyObject | undefined
  readonly certificates: readonly X509Certificate[]
}

/** Thrown internally for PEM without a readable certificate. */
class UnreadableError extends Error {
  override readonly name = 'UnreadableError'
}

const readSource = async (source: CertificateSource, opener: Pkcs12Opener): Promise<Material> => {
  if (source.format === 'pkcs12') {
    const { key, certificates } = await opener.open(source.content, source.password)
    return {
      certificates,
      key:
        key === undefined
          ? undefined
          : createPrivateKey({ key: Buffer.from(key), format: 'der', type: 'pkcs8' }),
    }
  }
  try {
    const blocks = pemBlocks(source.content)
    const certificates = readCertificates(blocks)
    if (certificates.length === 0) throw new UnreadableError('the PEM holds no certificate')
    return { certificates, key: readKey(blocks, source.password) }
  } catch (error) {
    if (error instanceof UnreadableError || error instanceof EncryptedKeyError) throw error
    if (error instanceof PemError) throw new UnreadableError(`the PEM: ${error.message}`)
    throw new UnreadableError('a block of the PEM cannot be read')
  }
}

const unreadable = (error: unknown): Refused => {
  if (error instanceof Pkcs12Error) {
    return error.reason === 'wrong_password'
      ? { ok: false, kind: 'wrong_password', message: 'the password does not open the file' }
      : { ok: false, kind: 'unreadable', message: error.message }
  }
  if (error instanceof EncryptedKeyError) {
    return error.reason === 'password'
      ? { ok: false, kind: 'wrong_password', message: error.message }
      : { ok: false, kind: 'unreadable', message: error.message }
  }
  if (error instanceof Pkcs12BusyError) return { ok: false, kind: 'busy' }
  if (error instanceof UnreadableError) {
    return { ok: false, kind: 'unreadable', message: error.message }
  }
  throw error
}

/** An import that was refused. */
export type Refused = Extract<ImportOutcome, { readonly ok: false }>

/** The Idempotency-Key of an import, and the answer that is kept under it. */
type ImportOnce = {
  readonly key: IdempotencyKey
  readonly answer: (record: CertificateRecord) => Answer
}

export type CertificateService = {
  readonly importCertificate: (request: ImportRequest, actor: Actor) => Promise<ImportOutcome>
  /** The same once under an Idempotency-Key; a repetition gets the answer of the first time. */
  readonly importOnce: (
    request: ImportRequest,
    actor: Actor,
    once: ImportOnce,
  ) => Promise<Answered | Refused>
  readonly list: () => Promise<readonly CertificateRecord[]>
  /** `latest`: the highest version whose validity has begun; if none has, the highest of all. */
  readonly find: (
    ispb: string,
    type: CertificateType,
    version: number | 'latest',
  ) => Promise<CertificateRecord | undefined>
  readonly readKey: CertificateStore['readKey']
  readonly remove: (name: CertificateName, actor: Actor) => Promise<boolean | 'read_only'>
}

export type CertificateServiceDeps = {
  readonly store: CertificateStore
  readonly now: () => Date
  /** Called after each change of the store. */
  readonly onChange?: () => void
}

/** Reads and checks what is to be stored, and writes nothing yet. */
const createPreparation = ({ store, now }: CertificateServiceDeps) => {
  const opener = createPkcs12Opener()
  return async (request: ImportRequest): Promise<Prepared | Refused> => {
    if (!store.writable) return { ok: false, kind: 'read_only' }
    let material: Material
    try {
      material = await readSource(request.source, opener)
    } catch (error) {
      return unreadable(error)
    }
    const { key } = material
    const { leaf, chain } = orderChain(material.certificates, key)
    if (leaf === undefined) {
      return { ok: false, kind: 'unreadable', message: 'the certificates form a circle' }
    }
    const { ispb, type } = request
    const problems = checkCertificate(type, leaf, key, chain, now())
    if (problems.length > 0) return { ok: false, kind: 'unusable', problems }
    const der = key?.export({ format: 'der', type: 'pkcs8' })
    return {
      as: (version) => ({
        record: recordOf({ ispb, type, version }, leaf, chain, key !== undefined),
        key: der === undefined ? undefined : new Uint8Array(der),
      }),
    }
  }
}

/** A certificate to store, without its number. */
type Prepared = { readonly as: (version: number) => NewCertificate }

/** How often another import may take the number that was the next free one. */
const triesMax = 10

/** Imports and finds certificates. */
export const createCertificateService = (deps: CertificateServiceDeps): CertificateService => {
  const { store, now } = deps
  const prepare = createPreparation(deps)

  /** @param write undefined: the name or the certificate is stored already */
  const importAs = async <T>(
    request: ImportRequest,
    write: (certificate: NewCertificate) => Promise<T | undefined>,
  ): Promise<T | Refused> => {
    const prepared = await prepare(request)
    if ('ok' in prepared) return prepared
    for (let tries = 1; ; tries++) {
      const version = request.version ?? (await store.lastVersion(request)) + 1
      // A name has no room for a higher number.
      if (version > versionMax) {
        return { ok: false, kind: 'exists', name: nameText({ ...request, version: versionMax }) }
      }
      const certificate = prepared.as(version)
      const written = await write(certificate)
      if (written !== undefined) {
        deps.onChange?.()
        return written
      }
      const { record } = certificate
      const same = (await store.list()).find(
        ({ ispb, type, fingerprint }) =>
          ispb === record.ispb && type === record.type && fingerprint === record.fingerprint,
      )
      if (same !== undefined || request.version !== undefined || tries === triesMax) {
        return { ok: false, kind: 'exists', name: nameText(same ?? record) }
      }
    }
  }

  const importCertificate = (request: ImportRequest, actor: Actor): Promise<ImportOutcome> =>
    importAs(request, async (certificate) =>
      (await store.add(certificate, actor)) ? { ok: true, record: certificate.record } : undefined,
    )

  const importOnce = async (
    request: ImportRequest,
    actor: Actor,
    { key, answer }: ImportOnce,
  ): Promise<Answered | Refused> => {
    const { addOnce } = store
    if (addOnce === undefined) return { ok: false, kind: 'read_only' }
    const kept = await store.replayOf?.(key)
    if (kept !== undefined) return kept
    return importAs(request, (certificate) =>
      addOnce(certificate, actor, key, answer(certificate.record)),
    )
  }

  return {
    importCertificate,
    importOnce,
    list: store.list,
    readKey: store.readKey,
    find: async (ispb, type, version) => {
      const records = (await store.list()).filter(
        (record) => record.ispb === ispb && record.type === type,
      )
      if (version !== 'latest') return records.find((record) => record.version === version)
      const begun = records.filter((record) => record.notBefore <= now())
      return (begun.length > 0 ? begun : records).toSorted((a, b) => b.version - a.version)[0]
    },
    remove: async (name, actor) => {
      if (!store.writable) return 'read_only'
      const removed = await store.remove(name, actor)
      if (removed) deps.onChange?.()
      return removed
    },
  }
}
