import { expect } from 'bun:test'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { createFileMaterial, type KeyMaterial } from '#src/platform/security/index.ts'
import { type IssuedPair, issueCertificate } from './pki.ts'
import { temporaryDirectory } from './temporary.ts'
import { until } from './until.ts'

/** What an operator puts in place: our certificate and key, and the authorities that are trusted. */
export type Installed = { readonly pair: IssuedPair; readonly ca: string }

export type RotatingMaterial = {
  readonly material: KeyMaterial
  /** Changes the files and has them read, which a running gateway does by itself. */
  readonly install: (installed: Installed) => Promise<void>
}

/** TLS material of files that change. */
export const rotatingMaterial = async (first: Installed): Promise<RotatingMaterial> => {
  const directory = temporaryDirectory()
  const [cert, key, ca] = ['cert.pem', 'key.pem', 'ca.pem'].map((name) => join(directory, name))
  if (cert === undefined || key === undefined || ca === undefined) throw new Error('no paths')
  const write = async ({ pair, ca: authorities }: Installed): Promise<void> => {
    await Bun.write(key, pair.key)
    await Bun.write(cert, pair.cert)
    await Bun.write(ca, authorities)
  }
  await write(first)
  const material = createFileMaterial({
    certificate: { text: first.pair.cert, path: cert },
    key: { text: first.pair.key, path: key },
    ca: { text: first.ca, path: ca },
  })
  const install = async (installed: Installed): Promise<void> => {
    await write(installed)
    expect(await material.reload()).toBe(true)
  }
  return { material, install }
}

/** The common name of what the other side of a connection has shown. */
export const shownOn = (socket: TLSSocket): string =>
  String(socket.getPeerCertificate().subject?.CN)

export type PeerAnswer = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** An HTTPS server that wants a certificate and notes whose it is shown, once for each request. */
export const startPeer = async (
  { cert, key }: IssuedPair,
  ca: string,
  answer: (path: string, body: string) => PeerAnswer,
) => {
  const shown: string[] = []
  const shownBy: { readonly path: string; readonly name: string }[] = []
  const server = http2.createSecureServer(
    { cert, key, ca, requestCert: true, rejectUnauthorized: true, allowHTTP1: true },
    (request, response) => {
      const name = shownOn(request.socket as TLSSocket)
      shown.push(name)
      shownBy.push({ path: request.url, name })
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { status, headers = {}, body } = answer(request.url, Buffer.concat(chunks).toString())
        response.statusCode = status
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
        response.end(body)
      })
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    shown,
    /** Whose, of the requests to a path. */
    shownTo: (path: string): readonly string[] =>
      shownBy.flatMap((one) => (one.path === path ? [one.name] : [])),
    /** Connections made from now on get the certificate of another pair. */
    show: (pair: IssuedPair) => server.setSecureContext({ cert: pair.cert, key: pair.key, ca }),
    stop: () => server.close(),
  }
}

export type Change = {
  readonly make: () => Promise<void> | void
  /** Whose certificate is shown afterwards. */
  readonly shows: string
}

/**
 * What an operator does when our certificate ends, and then that of the other side with the authority it came from:
 * ours from `second` to `third`, the other's authority first besides the old one, at last alone.
 */
export const rotationOf = (
  { install }: RotatingMaterial,
  peer: { readonly show: (pair: IssuedPair) => void },
  authority: IssuedPair,
): readonly Change[] => {
  const next = issueCertificate('next authority', { authority: true })
  const [second, third] = ['second', 'third'].map((name) =>
    issueCertificate(name, { issuer: authority }),
  )
  if (second === undefined || third === undefined) throw new Error('no certificates')
  const both = `${authority.cert}\n${next.cert}`
  const server = issueCertificate('next server', { issuer: next, hosts: ['127.0.0.1'] })
  return [
    { make: () => install({ pair: second, ca: authority.cert }), shows: 'second' },
    { make: () => install({ pair: second, ca: both }), shows: 'second' },
    { make: () => peer.show(server), shows: 'second' },
    { make: () => install({ pair: third, ca: next.cert }), shows: 'third' },
  ]
}

const callersMax = 4
const callsBetween = 40

/**
 * Calls without a pause, four at a time, while certificates change: every call succeeds. After each change those under
 * way may still show the old certificate, one for each caller, and all that follow show the new one.
 */
export const callUnderChanges = async (
  shown: readonly string[],
  call: () => Promise<void>,
  changes: readonly Change[],
): Promise<void> => {
  let isRunning = true
  let failure: unknown
  let calls = 0
  const caller = async (): Promise<void> => {
    for (; isRunning; calls++) await call()
  }
  const callers = Array.from({ length: callersMax }, () =>
    caller().catch((error: unknown) => {
      failure ??= error
      isRunning = false
    }),
  )
  const reach = (count: number): Promise<void> => until(() => !isRunning || shown.length >= count)
  try {
    for (const { make, shows } of changes) {
      await reach(shown.length + callsBetween)
      await make()
      const changed = shown.length + callersMax
      await reach(changed + callsBetween)
      if (failure === undefined) expect(new Set(shown.slice(changed))).toEqual(new Set([shows]))
    }
  } finally {
    isRunning = false
    await Promise.all(callers)
  }
  if (failure !== undefined) throw failure
  expect(shown.length).toBeGreaterThanOrEqual(calls)
}
