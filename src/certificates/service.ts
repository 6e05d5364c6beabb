import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto'
import type { Actor } from '#src/platform/http/index.ts'
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
} from './domain.ts'
import { Pkcs12Error } from './pkcs12.ts'
import { createPkcs12Opener, Pkcs12BusyError, type Pkcs12Opener } from './pkcs12-thread.ts'
import type { CertificateStore } from './store.ts'

/** The material to import: a PKCS#12 file, or PEM text with the certificate, its chain and its key. */
export type CertificateSource =
  | { readonly format: 'pkcs12'; readonly content: Uint8Array; readonly password: string }
  | { readonly format: 'pem'; readonly content: string }

/** @property version - by default the next free one */
export type ImportRequest = {
  readonly ispb: string
  readonly type: CertificateType
  readonly version: number | undefined
  readonly source: CertificateSource
}

export type ImportOutcome =
  | { readonly ok: true; readonly record: CertificateRecord }
  | { readonly ok: false; readonly kind: 'wrong_password' }
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
    const certificates = readCertificates(source.content)
    if (certificates.length === 0) throw new UnreadableError('the PEM holds no certificate')
    const hasKey = /-----BEGIN (?:RSA |EC )?PRIVATE KEY-----/.test(source.content)
    return { certificates, key: hasKey ? readKey(keyBlock(source.content)) : undefined }
  } catch (error) {
    if (error instanceof UnreadableError) throw error
    throw new UnreadableError('a block of the PEM cannot be read')
  }
}

const keyBlock = (pem: string): string =>
  /-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----[\s\S]+?-----END \1-----/.exec(pem)?.[0] ?? ''

const unreadable = (error: unknown): ImportOutcome => {
  if (error instanceof Pkcs12Error) {
    return error.reason === 'wrong_password'
      ? { ok: false, kind: 'wrong_password' }
      : { ok: false, kind: 'unreadable', message: error.message }
  }
  if (error instanceof Pkcs12BusyError) return { ok: false, kind: 'busy' }
  if (error instanceof UnreadableError) {
    return { ok: false, kind: 'unreadable', message: error.message }
  }
  throw error
}

export type CertificateService = {
  readonly importCertificate: (request: ImportRequest, actor: Actor) => Promise<ImportOutcome>
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

/** Imports and finds certificates. */
export const createCertificateService = (deps: CertificateServiceDeps): CertificateService => {
  const { store, now } = deps
  const opener = createPkcs12Opener()

  const nextVersion = async (ispb: string, type: CertificateType): Promise<number> => {
    const versions = (await store.list())
      .filter((record) => record.ispb === ispb && record.type === type)
      .map((record) => record.version)
    return Math.max(0, ...versions) + 1
  }

  const importCertificate = async (
    request: ImportRequest,
    actor: Actor,
  ): Promise<ImportOutcome> => {
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
    const version = request.version ?? (await nextVersion(ispb, type))
    const record = recordOf({ ispb, type, version }, leaf, chain, key !== undefined)
    const der = key?.export({ format: 'der', type: 'pkcs8' })
    const own = der === undefined ? undefined : new Uint8Array(der)
    const added = await store.add({ record, key: own }, actor)
    if (!added) return { ok: false, kind: 'exists', name: nameText(record) }
    deps.onChange?.()
    return { ok: true, record }
  }

  return {
    importCertificate,
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
