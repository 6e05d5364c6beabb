/**
 * A payer who reads the code of a charge: his institution reads the location, believes what the receiver's institution
 * has signed, asks the directory whose key it is, and pays.
 */

import { type CompactJWSHeaderParameters, compactVerify, createLocalJWKSet } from 'jose'
import { z } from 'zod'
import { parseBrCode } from '#codecs/brcode'
import { CodecError } from '#codecs/bytes'
import { readKeptEntry } from '#codecs/dict'
import { parseCents } from '#codecs/iso20022'
import { ispbForm } from '#codecs/taxpayer'
import { createXmlScanner } from '#codecs/xml'
import { jsonOnce } from '#src/platform/http/index.ts'
import { readBounded } from '#src/platform/runtime/index.ts'
import type { PaidCharge } from './drafts.ts'
import { payingPsp } from './options.ts'

/** Why a code is not paid, with the status that the simulator answers. */
export class UnpaidError extends Error {
  override readonly name = 'UnpaidError'
  readonly code: string
  readonly status: number

  constructor(status: number, code: string, message: string) {
    super(message)
    this.code = code
    this.status = status
  }
}

export type ReadCode = {
  /** The text of the QR code. */
  readonly code: string
  /** The day on which the payer means to pay, for a charge with a due date; today if absent. */
  readonly payOn?: string | undefined
  /** Instead of the directory: the institution that is paid, and CPF or CNPJ of the receiver. */
  readonly receiver?: { readonly to: string; readonly taxId: string } | undefined
}

/** The payee, and the amount to pay. */
export type Payable = {
  readonly to: string
  readonly amountCents: bigint
  readonly charge: PaidCharge
}

const money = z.string().regex(/^\d{1,10}\.\d\d$/)
const cashOf = z.object({
  valor: money,
  modalidadeAgente: z.enum(['AGTEC', 'AGTOT', 'AGPSS']),
  prestadorDoServicoDeSaque: z.string().regex(ispbForm),
})
const payloadOf = z.object({
  txid: z.string().regex(/^[A-Za-z0-9]{26,35}$/),
  status: z.string(),
  chave: z.string(),
  calendario: z.object({ criacao: z.iso.datetime(), expiracao: z.int().optional() }),
  valor: z.object({
    original: money.optional(),
    final: money.optional(),
    retirada: z.object({ saque: cashOf.optional(), troco: cashOf.optional() }).optional(),
  }),
})
type Payload = z.infer<typeof payloadOf>

const payer = { taxId: '15231470190' } as const
const timeoutMs = 5_000
const bytesMax = 256 * 1024
const scanner = createXmlScanner()

const isLoopback = (host: string): boolean => /^(?:127\.|localhost$|\[::1\]$)/.test(host)

/** Services on this machine may lack TLS, or have a certificate that nobody knows. */
const ask = async (url: URL, request: BunFetchRequestInit): Promise<Response> => {
  if (!isLoopback(url.hostname)) return fetch(url, request)
  const plain = new URL(url)
  plain.protocol = 'http:'
  try {
    return await fetch(plain, request)
  } catch {
    return await fetch(url, { ...request, tls: { rejectUnauthorized: false } })
  }
}

/** @throws UnpaidError `unreachable` */
const read = async (url: URL, accept: string, headers: Record<string, string> = {}) => {
  try {
    const response = await ask(url, {
      headers: { Accept: accept, 'Accept-Encoding': 'identity', ...headers },
      decompress: false,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { bytes, isWhole } = await readBounded(response.body, bytesMax)
    if (!isWhole) throw new Error('it is too large')
    return { status: response.status, bytes, text: Buffer.from(bytes).toString() }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new UnpaidError(502, 'unreachable', `${url.host} did not answer: ${why}`)
  }
}

/** @throws UnpaidError `unreadable_code`, `no_charge` */
const locationOf = ({ code, payOn }: ReadCode): URL => {
  let address: string | undefined
  try {
    address = parseBrCode(code).pix?.url
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new UnpaidError(400, 'unreadable_code', error.message)
  }
  const url = URL.parse(`https://${address}`)
  if (address === undefined || url === null) {
    throw new UnpaidError(400, 'no_charge', 'the code names no location of a charge')
  }
  if (payOn !== undefined) url.searchParams.set('DPP', payOn)
  return url
}

/** Verifies the signature by the keys that the header names, which must be of the same site. @throws UnpaidError */
const payloadAt = async (location: URL): Promise<Payload> => {
  const { status, text } = await read(location, 'application/jose')
  if (status !== 200) throw new UnpaidError(409, 'not_shown', `the location answers ${status}`)
  try {
    const { payload } = await compactVerify(text, async (header) => {
      const keys = URL.parse((header as CompactJWSHeaderParameters).jku ?? '')
      if (keys?.host !== location.host) throw new Error('its keys are of another site')
      const set = JSON.parse((await read(keys, 'application/json')).text)
      return createLocalJWKSet(set)(header)
    })
    return payloadOf.parse(jsonOnce(Buffer.from(payload).toString()))
  } catch (error) {
    if (error instanceof UnpaidError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new UnpaidError(422, 'not_trusted', `the payload cannot be trusted: ${why}`)
  }
}

/** @throws UnpaidError `not_payable` */
const requireOpen = ({ status, calendario, valor }: Payload, now: number): void => {
  const { criacao, expiracao } = calendario
  const isLate = expiracao !== undefined && Date.parse(criacao) + expiracao * 1_000 <= now
  if (status === 'ATIVA' && !isLate && (valor.final ?? valor.original) !== undefined) return
  const what = status === 'ATIVA' && isLate ? 'expired' : status
  throw new UnpaidError(409, 'not_payable', `the charge is ${what}`)
}

/** @throws UnpaidError `unknown_key`; or `directory_failed`, if nobody could tell whose key it is */
const lookUp = async (directory: string | undefined, key: string, endToEndId: string) => {
  if (directory === undefined) {
    const message = 'say to and tax_id, or start the bank with the directory’s address'
    throw new UnpaidError(400, 'no_directory', message)
  }
  const url = new URL(`${directory}/entries/${encodeURIComponent(key)}`)
  const { status, bytes } = await read(url, 'application/xml', {
    'PI-RequestingParticipant': payingPsp,
    'PI-PayerId': payer.taxId,
    'PI-EndToEndId': endToEndId,
  })
  const said = `the directory ${url.host} answers ${status}`
  if (status === 404) throw new UnpaidError(404, 'unknown_key', said)
  if (status !== 200) throw new UnpaidError(502, 'directory_failed', said)
  try {
    const document = scanner.scan(bytes)
    const { account, owner } = readKeptEntry(document, document.root)
    return { to: account.participant, taxId: owner.taxIdNumber }
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new UnpaidError(502, 'directory_failed', `${said}: ${error.message}`)
  }
}

const chargeOf = ({ txid, chave: key, valor }: Payload, taxId: string): PaidCharge => {
  const cash = valor.retirada?.saque ?? valor.retirada?.troco
  if (cash === undefined) return { txid, taxId, key }
  const { modalidadeAgente: agent, prestadorDoServicoDeSaque: facilitator } = cash
  const taken = {
    cents: parseCents(cash.valor),
    agent: agent === 'AGPSS' ? 'AGFSS' : agent,
    facilitator,
  }
  return { txid, taxId, key, cash: taken }
}

/** Tells the directory that the payment of a lookup went out, which gives its token back; does so at its best. */
export const tellOrder = async (directory: string, endToEndId: string): Promise<void> => {
  const url = new URL('/simulator/orders', directory)
  await ask(url, {
    method: 'POST',
    body: JSON.stringify({ end_to_end_id: endToEndId }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => undefined)
}

/**
 * The payment that a code asks its payer for.
 *
 * @throws UnpaidError
 */
export const payableOf = async (
  asked: ReadCode,
  deps: {
    readonly directory: string | undefined
    readonly now: () => number
    /** The lookup and the payment have it. */
    readonly endToEndId: string
  },
): Promise<Payable> => {
  const payload = await payloadAt(locationOf(asked))
  requireOpen(payload, deps.now())
  const receiver = asked.receiver ?? (await lookUp(deps.directory, payload.chave, deps.endToEndId))
  const charge = chargeOf(payload, receiver.taxId)
  const bought = parseCents(payload.valor.final ?? payload.valor.original ?? '0.00')
  return { to: receiver.to, amountCents: bought + (charge.cash?.cents ?? 0n), charge }
}
