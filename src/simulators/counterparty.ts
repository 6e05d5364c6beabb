/** The common parts of the simulated counterparties that speak HTTP. */

import { verify, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { type CanonicalName, canonicalIssuer, parseName } from '#codecs/xmldsig'
import { jsonOnce } from '#src/platform/http/index.ts'
import { describeCertificate } from '#src/platform/security/index.ts'

export type CounterpartyOptions = {
  /** Loopback when absent. */
  readonly hostname?: string | undefined
  /** 0 or absent picks a free one. */
  readonly port?: number | undefined
  /** PEM. With `clientCa`, clients must show a certificate of that authority. */
  readonly tls?:
    | { readonly cert: string; readonly key: string; readonly clientCa?: string | undefined }
    | undefined
  /** PEM of the RSA certificate and key that sign what the counterparty sends; unsigned when absent. */
  readonly signing?: { readonly certificate: string; readonly key: string } | undefined
  /** PEM, one certificate each, by ISPB. With it, a participant must sign with one of its certificates. */
  readonly participantCertificates?: Readonly<Record<string, readonly string[]>> | undefined
  /** Chance in [0, 1) for faults. */
  readonly random?: () => number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

/** Options of which those in `Defaults` always have a value. */
export type Resolved<Options, Defaults> = Omit<Options, keyof Defaults> & {
  readonly [Name in keyof Defaults & keyof Options]-?: NonNullable<Options[Name]>
}

/** An option that is absent or undefined has its default. */
export const withDefaults = <Options extends object, Defaults extends Partial<Options>>(
  defaults: Defaults,
  options: Options,
): Resolved<Options, Defaults> => {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return { ...defaults, ...Object.fromEntries(given) } as Resolved<Options, Defaults>
}

/** The host by which this machine calls a server, as an address writes it. */
export const urlHost = (hostname: string): string => {
  if (hostname === '0.0.0.0' || hostname === '::') return 'localhost'
  return hostname.includes(':') ? `[${hostname}]` : hostname
}

/** A simulator is as slow as it is told to be: the runtime would cut a connection after ten quiet seconds. */
export const neverIdle = 0

/** TLS of a server, as Node and Bun take it. */
export const serverTls = ({ cert, key, clientCa }: NonNullable<CounterpartyOptions['tls']>) => ({
  cert,
  key,
  ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
})

const loopback = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])

/** Whether a caller may steer the simulator. */
export const isLocal = (address: string | undefined): boolean => loopback.has(address ?? '')

const delayMsMax = 600_000
const faultsMax = 100

/** The body that sets faults. @param more what the faults of this counterparty have besides */
export const faultsBody = <
  Kinds extends readonly [string, ...string[]],
  More extends z.ZodRawShape,
>(
  kinds: Kinds,
  more: More,
) =>
  z
    .array(
      z.strictObject({
        kind: z.enum(kinds),
        probability: z.number().min(0).max(1).optional(),
        times: z.int().min(1).optional(),
        delayMs: z.int().min(0).max(delayMsMax).optional(),
        ...more,
      }),
    )
    .max(faultsMax)

/** Refuses a fault that never strikes. @param struck the operations that a kind strikes in, if not in all */
export const demandStruck =
  (struck: Readonly<Record<string, readonly string[] | undefined>>) =>
  (
    faults: readonly { readonly kind: string; readonly operation?: string | undefined }[],
    context: z.core.$RefinementCtx,
  ): void => {
    for (const [i, { kind, operation }] of faults.entries()) {
      if (operation === undefined || struck[kind]?.includes(operation) !== false) continue
      const message = `${kind} never strikes in a ${operation}`
      context.addIssue({ code: 'custom', path: [i, 'operation'], message, input: operation })
    }
  }

/** A body as JSON; undefined for anything else. */
export const jsonIn = (body: Uint8Array): unknown => {
  try {
    return jsonOnce(Buffer.from(body).toString())
  } catch {
    return undefined
  }
}

type Signer = {
  readonly ispb: string
  readonly issuer: CanonicalName
  readonly valid: boolean
  readonly verify: (signed: Uint8Array, signature: Uint8Array) => boolean
}

/** Finds participants' certificates as signatures name them. @param certificates PEM by ISPB */
export const signersIn = (
  certificates: Readonly<Record<string, readonly string[]>>,
): ((issuer: string, serial: string) => Signer | undefined) => {
  const bySerial = new Map<string, Signer[]>()
  for (const [ispb, pems] of Object.entries(certificates)) {
    for (const pem of pems) {
      const certificate = new X509Certificate(pem)
      const { publicKey } = certificate
      const { serial, notAfter } = describeCertificate(certificate)
      const signer = {
        ispb,
        issuer: canonicalIssuer(new Uint8Array(certificate.raw)),
        valid: notAfter.getTime() > Date.now(),
        verify: (signed: Uint8Array, signature: Uint8Array) =>
          verify('sha256', signed, publicKey, signature),
      }
      bySerial.set(serial, [...(bySerial.get(serial) ?? []), signer])
    }
  }
  return (issuer, serial) => {
    const name = nameOf(issuer)
    return bySerial.get(serial)?.find((signer) => signer.issuer === name)
  }
}

const nameOf = (text: string): CanonicalName | undefined => {
  try {
    return parseName(text)
  } catch {
    // A name that cannot be read is no certificate's.
    return undefined
  }
}
