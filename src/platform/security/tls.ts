import { createHash, createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Pem } from '../config/index.ts'
import { createJob } from '../jobs/index.ts'

/** What `fetch`, `node:tls` and `node:http2` take as TLS options. */
export type TlsOptions = { readonly cert?: string; readonly key?: string; readonly ca?: string }

/** Where the material comes from; a part with a path is read again when its file changes. */
export type TlsSource = {
  readonly certificate: Pem | undefined
  readonly key: Pem | undefined
  readonly ca: Pem | undefined
}

/**
 * PEM material that is exchanged while the process runs. Whoever connects asks for `current()` at
 * every request (Bun's `fetch` keeps separate pools per client certificate, so new connections use
 * the new one and the old ones end with their requests); whoever listens follows `onChange`.
 */
export type TlsMaterial = {
  readonly current: () => TlsOptions
  /** Called after each exchange. Returns how to stop following. */
  readonly onChange: (listener: (options: TlsOptions) => void) => () => void
  /** Reads the files now; true when the material changed. */
  readonly reload: () => Promise<boolean>
  /** Starts looking at the files from time to time. */
  readonly watch: () => void
  readonly stop: () => void
}

const pollMsDefault = 2_000

/** Thrown for material that cannot be used; names the rule, never the content. */
export class TlsMaterialError extends Error {
  override readonly name = 'TlsMaterialError'
}

const checkPair = ({ cert, key }: TlsOptions): void => {
  if (cert === undefined || key === undefined) {
    if (cert !== key) throw new TlsMaterialError('certificate and private key are needed together')
    return
  }
  let belongs: boolean
  try {
    belongs = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    throw new TlsMaterialError('certificate or private key cannot be read')
  }
  if (!belongs) throw new TlsMaterialError('certificate and private key do not belong together')
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

const digestOf = ({ cert, key, ca }: TlsOptions): string =>
  createHash('sha256')
    .update(JSON.stringify([cert, key, ca]))
    .digest('hex')

/**
 * @param onProblem - told once per fault when new files cannot be used; the old material stays
 * @throws TlsMaterialError when the material given at the start cannot be used
 */
export const createTlsMaterial = (
  source: TlsSource,
  onProblem: (error: Error) => void = () => {},
  pollMs: number = pollMsDefault,
): TlsMaterial => {
  let current = optionsOf(source.certificate?.text, source.key?.text, source.ca?.text)
  checkPair(current)
  let seen = digestOf(current)
  const listeners = new Set<(options: TlsOptions) => void>()

  const reload = async (): Promise<boolean> => {
    const parts = await Promise.all([source.certificate, source.key, source.ca].map(readPem))
    const next = optionsOf(...(parts as [string?, string?, string?]))
    const digest = digestOf(next)
    if (digest === seen) return false
    seen = digest
    checkPair(next)
    current = next
    for (const listener of listeners) listener(next)
    return true
  }

  const watch = createJob({
    ...{ name: 'certificate files', everyMs: pollMs },
    // Half a rotation (new certificate, old key) is a problem for one look at most.
    run: () => reload().catch((error: unknown) => onProblem(error as Error)),
  })

  return {
    current: () => current,
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    reload,
    watch: () => void watch.start(),
    stop: () => void watch.stop(),
  }
}

/** A `tls.Server` or `http2` secure server: `Bun.serve` has no such method and keeps its first one. */
export type SecureListener = { readonly setSecureContext: (options: TlsOptions) => void }

/** New connections of the listener get the new material; those that are open stay as they are. */
export const followMaterial = (listener: SecureListener, material: TlsMaterial): (() => void) =>
  material.onChange((options) => listener.setSecureContext(options))
