import type { X509Certificate } from 'node:crypto'
import { type BrCode, parseBrCode } from '#codecs/brcode'
import { ApiError, OutsideError, type ReadOutside } from '#src/platform/http/index.ts'
import { describeCertificate } from '#src/platform/security/index.ts'
import { qrcodeErrors } from './errors.ts'

/**
 * What the payload says and whether it may be trusted; the JOSE feature finds it out.
 *
 * @property failure - why it may not; undefined if it may
 */
type ReadPayload = (
  token: string,
  location: string,
  account: string,
) => Promise<{
  readonly failure: string | undefined
  readonly message: string | undefined
  readonly header: Readonly<Record<string, unknown>> | undefined
  readonly payload: unknown
  readonly key:
    | {
        readonly kid: string | undefined
        readonly algorithm: string
        readonly origin: string
        readonly certificate: X509Certificate | undefined
      }
    | undefined
}>

/**
 * @property of - which location of a composite code
 * @property municipality - IBGE code of the payer's municipality, for charges with a due date
 * @property payOn - the day of payment, `YYYY-MM-DD`, for the same
 */
export type ResolveRequest = {
  readonly payload: string
  readonly of: 'charge' | 'recurrence'
  readonly municipality: string | undefined
  readonly payOn: string | undefined
  /** Who asks: the address in a code is what an account wants. */
  readonly account: string
}

export type ResolveDeps = { readonly read: ReadOutside; readonly open: ReadPayload }

/** Largest token at a location. */
export const tokenBytesMax = 256 * 1024
const accept = 'application/jose'
const goneStatuses: readonly number[] = [404, 410]

const locationOf = (code: BrCode, request: ResolveRequest): string => {
  const { pix } = code
  const address = request.of === 'charge' ? pix?.url : pix?.recurrenceUrl
  if (address === undefined) {
    throw new ApiError(
      qrcodeErrors.qrcode_without_location,
      `The code holds no location of a ${request.of}.`,
    )
  }
  const text = `https://${address}`
  if (!URL.canParse(text)) {
    throw new ApiError(qrcodeErrors.qrcode_location_refused, 'The location is no address.')
  }
  const url = new URL(text)
  if (request.municipality !== undefined) url.searchParams.set('codMun', request.municipality)
  if (request.payOn !== undefined) url.searchParams.set('DPP', request.payOn)
  return url.href
}

/** An ApiError for what the reader says. */
const unread = (error: unknown): unknown => {
  if (!(error instanceof OutsideError)) return error
  const isRefused = error.reason.startsWith('target_') && error.reason !== 'target_dns'
  const definition = isRefused
    ? qrcodeErrors.qrcode_location_refused
    : qrcodeErrors.qrcode_location_unavailable
  return new ApiError(definition, `The location: ${error.message}.`, {
    details: { reason: error.reason },
  })
}

const problemForm = /^[A-Za-z]{1,60}$/
const propertyForm = /^[A-Za-z.]{1,60}$/
const propertiesMax = 10

type Problem = { readonly problem?: string; readonly properties?: readonly string[] }

/** What the API Pix calls the problem of an answer that is one, the end of its type, and what of the request it is about. */
const problemIn = (body: Uint8Array): Problem => {
  try {
    const { type, violacoes } = JSON.parse(Buffer.from(body).toString()) as {
      readonly type?: unknown
      readonly violacoes?: unknown
    }
    const problem = String(type).split('/').at(-1) ?? ''
    if (typeof type !== 'string' || !problemForm.test(problem)) return {}
    if (!Array.isArray(violacoes) || violacoes.length === 0) return { problem }
    const properties = violacoes
      .map((one: unknown) => (one as { readonly propriedade?: unknown } | null)?.propriedade)
      .filter((name) => typeof name === 'string')
      .filter((name) => propertyForm.test(name))
    return { problem, properties: properties.slice(0, propertiesMax) }
  } catch {
    return {}
  }
}

const readToken = async (read: ReadOutside, location: string, account: string): Promise<string> => {
  const { status, body } = await read(location, { accept, bytesMax: tokenBytesMax, account }).catch(
    (error: unknown) => {
      throw unread(error)
    },
  )
  if (goneStatuses.includes(status)) {
    throw new ApiError(qrcodeErrors.qrcode_gone, `The location answers ${status}.`)
  }
  if (status !== 200) {
    throw new ApiError(
      qrcodeErrors.qrcode_location_unavailable,
      `The location answers ${status}.`,
      { details: { reason: 'status', status_code: status, ...problemIn(body) } },
    )
  }
  return Buffer.from(body).toString('latin1').trim()
}

const certificateView = (certificate: X509Certificate) => {
  const { serial, notBefore, notAfter } = describeCertificate(certificate)
  return {
    subject: certificate.subject.split('\n').reverse().join(', '),
    issuer: certificate.issuer.split('\n').reverse().join(', '),
    serial,
    not_before: notBefore.toISOString(),
    not_after: notAfter.toISOString(),
  }
}

/** Fetches and verifies the payload of a dynamic code. */
export const createResolver =
  ({ read, open }: ResolveDeps) =>
  async (request: ResolveRequest) => {
    const code = parseBrCode(request.payload)
    const location = locationOf(code, request)
    const token = await readToken(read, location, request.account)
    const { failure, message, header, payload, key } = await open(token, location, request.account)
    const verdict = {
      valid: failure === undefined,
      ...(failure === undefined ? {} : { reason: failure }),
      ...(message === undefined ? {} : { message }),
      ...(key === undefined ? {} : { alg: key.algorithm, key_source: key.origin }),
      ...(key?.kid === undefined ? {} : { kid: key.kid }),
      certificate: key?.certificate === undefined ? null : certificateView(key.certificate),
    }
    return { code, location, verdict, header: header ?? null, payload: payload ?? null }
  }

export type Resolver = ReturnType<typeof createResolver>
