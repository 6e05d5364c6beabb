import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Pem, SettingProblem } from '../config/index.ts'
import { createJob } from '../jobs/index.ts'

/** The TLS options that `fetch`, `node:tls` and `node:http2` take. */
export type TlsOptions = { readonly cert?: string; readonly key?: string; readonly ca?: string }

/** Where the material comes from; we read a part with a path again when its file changes. */
export type KeyFiles = {
  readonly certificate: Pem | undefined
  readonly key: Pem | undefined
  readonly ca: Pem | undefined
}

/**
 * A certificate with its key, and the authorities of the other side, exchanged while the process runs: from files
 * ({@link createFileMaterial}) or from the certificate store ({@link createStoreMaterial}). Clients ask for `current()`
 * at every request (Bun's `fetch` keeps separate pools per client certificate, so new connections use the new one and
 * the old ones end with their requests); listeners follow `onChange`.
 */
export type KeyMaterial = {
  readonly current: () => TlsOptions
  /** Called after each exchange. Returns a function that stops following. */
  readonly onChange: (listener: (options: TlsOptions) => void) => () => void
  /** Reads the source now; true when the material changed. */
  readonly reload: () => Promise<boolean>
  /** Starts looking at the source from time to time. */
  readonly watch: () => void
  readonly stop: () => void
}

const filePollMs = 2_000
const storePollMs = 5_000

/** Thrown for material that cannot be used; names the rule, never the content. */
export class KeyMaterialError extends Error {
  override readonly name = 'KeyMaterialError'
}

const authority = '-----BEGIN CERTIFICATE-----'

/** The runtime takes those of a bundle up to the first that it cannot read, and throws only if that is the very first. */
const checkAuthorities = ({ ca }: TlsOptions): void => {
  if (ca === undefined) return
  const [, ...blocks] = ca.split(authority)
  try {
    if (blocks.length === 0) throw new KeyMaterialError('there is no authority')
    for (const block of blocks) new X509Certificate(authority + block)
  } catch {
    throw new KeyMaterialError('the certificates of the authorities cannot be read')
  }
}

const checkPair = ({ cert, key }: TlsOptions): void => {
  if (cert === undefined || key === undefined) {
    if (cert !== key) throw new KeyMaterialError('certificate and private key are needed together')
    return
  }
  let belongs: boolean
  try {
    belongs = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    throw new KeyMaterialError('certificate or private key cannot be read')
  }
  if (!belongs) throw new KeyMaterialError('certificate and private key do not belong together')
}

const readPem = async (pem: Pem | undefined): Promise<string | undefined> =>
  pem?.path === undefined ? pem?.text : readFile(pem.path, 'utf8')

const optionsOf = (
  cert: string | undefined,
  key: string | undefined,
  ca: string | undefined,
): TlsOptions => ({
  ...(cert === undefined ? {} : { cert }),
  ...(key === undefined ? {} : { key }),
  ...(ca === undefined ? {} : { ca }),
})

/** The present contents of the files, for a connection that is made once. */
export const tlsOptionsOf = ({ certificate, key, ca }: KeyFiles): TlsOptions =>
  optionsOf(certificate?.text, key?.text, ca?.text)

const digestOf = ({ cert, key, ca }: TlsOptions): string =>
  createHash('sha256')
    .update(JSON.stringify([cert, key, ca]))
    .digest('hex')

type Follow = {
  readonly first: TlsOptions
  readonly read: () => Promise<TlsOptions>
  readonly onProblem: (error: Error) => void
  readonly pollMs: number
  readonly check: ((options: TlsOptions) => void) | undefined
}

const follow = ({ first, read, onProblem, pollMs, check }: Follow): KeyMaterial => {
  let current = first
  let seen = digestOf(current)
  const listeners = new Set<(options: TlsOptions) => void>()
  /** The listeners that could not take the current material yet. */
  const behind = new Set<(options: TlsOptions) => void>()

  /** Tells each by itself: if one cannot take it now, for want of a descriptor, say, the others still get it. */
  const tell = (those: ReadonlySet<(options: TlsOptions) => void>): readonly unknown[] => {
    const faults: unknown[] = []
    for (const listener of [...those]) {
      behind.delete(listener)
      try {
        listener(current)
      } catch (error) {
        behind.add(listener)
        faults.push(error)
      }
    }
    return faults
  }

  const reload = async (): Promise<boolean> => {
    const next = await read()
    const digest = digestOf(next)
    if (digest === seen) {
      // Their faults were told of when the material was new.
      tell(behind)
      return false
    }
    seen = digest
    checkPair(next)
    if (next.ca !== current.ca) checkAuthorities(next)
    check?.(next)
    current = next
    const [fault] = tell(listeners)
    if (fault !== undefined) throw fault
    return true
  }

  const watch = createJob({
    name: 'key material',
    everyMs: pollMs,
    // Half a rotation (new certificate, old key) is a problem for one look at most.
    run: () => reload().catch((error: unknown) => onProblem(error as Error)),
  })

  return {
    current: () => current,
    onChange: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        behind.delete(listener)
      }
    },
    reload,
    watch: () => void watch.start(),
    stop: () => void watch.stop(),
  }
}

type FollowOptions = {
  readonly pollMs?: number
  /** Throws for new material that cannot do what it is for; the old stays. */
  readonly check?: (options: TlsOptions) => void
}

/**
 * Key material from files.
 *
 * @param onProblem - told once per fault when new files cannot be used; the old material stays
 * @throws KeyMaterialError when the material given at the start cannot be used
 */
export const createFileMaterial = (
  { certificate, key, ca }: KeyFiles,
  onProblem: (error: Error) => void = () => {},
  { pollMs = filePollMs, check }: FollowOptions = {},
): KeyMaterial => {
  const first = tlsOptionsOf({ certificate, key, ca })
  checkPair(first)
  const read = async (): Promise<TlsOptions> =>
    optionsOf(await readPem(certificate), await readPem(key), await readPem(ca))
  return follow({ first, read, onProblem, pollMs, check })
}

/** The problems of the files, told of the setting that is to blame. */
export const keyFileProblems = (
  files: KeyFiles,
  blamed: Pick<SettingProblem, 'name' | 'value'>,
  fix = 'set both to a certificate and its key, or neither',
): readonly SettingProblem[] => {
  try {
    createFileMaterial(files)
    return []
  } catch (error) {
    if (!(error instanceof KeyMaterialError)) throw error
    const expected = 'a certificate and its private key'
    return [{ ...blamed, problem: error.message, expected, fix }]
  }
}

/** Reads the pair of one purpose from the certificate store; both PEM. Rejects where the store has none. */
export type StoredPair = () => Promise<{ readonly cert: string; readonly key: string }>

/**
 * Key material from the certificate store. Until the first read it holds the authorities alone, so that no
 * counterparty mistakes this process for the institution.
 *
 * @param onProblem - called when the store cannot be read or has no pair; the old material stays
 */
export const createStoreMaterial = (
  readPair: StoredPair,
  ca: Pem | undefined,
  onProblem: (error: Error) => void = () => {},
  { pollMs = storePollMs, check }: FollowOptions = {},
): KeyMaterial => {
  const read = async (): Promise<TlsOptions> => {
    const { cert, key } = await readPair()
    return optionsOf(cert, key, await readPem(ca))
  }
  const first = optionsOf(undefined, undefined, ca?.text)
  return follow({ first, read, onProblem, pollMs, check })
}

/** A `tls.Server` or `http2` secure server: `Bun.serve` has no such method and keeps its first one. */
export type SecureListener = { readonly setSecureContext: (options: TlsOptions) => void }

/** New connections of the listener get the new material; open ones stay as they are. */
export const followMaterial = (listener: SecureListener, material: KeyMaterial): (() => void) =>
  material.onChange((options) => listener.setSecureContext(options))
