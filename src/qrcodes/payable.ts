import { parseBrCode } from '#codecs/brcode'
import { CodecError } from '#codecs/bytes'
import { parseCents } from '#codecs/iso20022'
import { ispbForm } from '#codecs/taxpayer'
import { ApiError } from '#src/platform/http/index.ts'
import { dayAt } from '#src/platform/runtime/index.ts'
import { qrcodeErrors } from './errors.ts'
import type { Resolver } from './resolve.ts'

/** What a code asks a payer for. */
type Payable = {
  readonly kind: 'static' | 'dynamic'
  readonly key: string
  readonly txid: string | undefined
  /** Undefined: the payer chooses. */
  readonly amountCents: number | undefined
  /** True: the payer may choose another amount than that. */
  readonly isOpen: boolean
  /** The cash of a Pix Saque or Pix Troco: the amount is that of cash and purchase together. */
  readonly withdrawal: PayableWithdrawal | undefined
}

/** Cash that the payer is handed out. */
type PayableWithdrawal = {
  readonly kind: 'saque' | 'troco'
  /** 0 for a saque. */
  readonly purchaseCents: number
  /** As a pacs.008 spells it. */
  readonly agent: string
  /** ISPB. */
  readonly facilitator: string
}

/**
 * Reads a code, and the charge behind it where it is dynamic.
 *
 * @throws ApiError if it cannot be read, is not to be trusted, or is not to be paid now
 */
export type ReadPayable = (text: string, now: Date, account: string) => Promise<Payable>

export const createPayables = (resolve: Resolver): ReadPayable => {
  const readDynamic = async (payload: string, url: string, now: Date, account: string) => {
    const payOn = isOfDueDate(url) ? dayAt(now) : undefined
    const common = { of: 'charge', municipality: undefined } as const
    const { verdict, payload: charge } = await resolve({
      ...common,
      payload,
      payOn,
      account,
    }).catch((error: unknown) => {
      throw payOn !== undefined && isRefusal(error) ? notPayable('expired', tooLate) : error
    })
    if (!verdict.valid) throw notPayable('untrusted', 'The charge is not signed as it should be.')
    return payableOf(fieldsOf(charge), now)
  }
  return async (text, now, account) => {
    const payload = text.trim()
    const { pix, amount } = parse(payload)
    if (pix?.kind === 'dynamic') return readDynamic(payload, pix.url ?? '', now, account)
    if (pix?.kind !== 'static' || pix.key === undefined) {
      throw notPayable('no_charge', 'The code asks for no Pix payment.')
    }
    if (pix.withdrawalProvider !== undefined) {
      const message = 'The code asks for cash (Pix Saque), and only a dynamic one is paid as such.'
      throw notPayable('static_withdrawal', message)
    }
    return {
      kind: 'static',
      key: pix.key,
      txid: pix.txid,
      isOpen: false,
      withdrawal: undefined,
      amountCents: amount === undefined ? undefined : centsOf(amount),
    }
  }
}

const notPayable = (reason: string, message: string): ApiError =>
  new ApiError(qrcodeErrors.qrcode_not_payable, message, { details: { reason } })

/** The standard sets those of charges with a due date apart, which alone take the day of payment. */
const isOfDueDate = (location: string): boolean => location.split('/').at(-2) === 'cobv'

const tooLate = 'The location refuses a payment of the charge today.'

/** Whether the location refuses the day that it was asked with. Others fail for reasons of their own. */
const isRefusal = (error: unknown): boolean => {
  if (!(error instanceof ApiError)) return false
  const { problem, properties } = error.details
  if (problem !== 'CobPayloadOperacaoInvalida') return false
  // Not all of them say what is amiss.
  return !Array.isArray(properties) || properties.includes('DPP')
}

const parse = (payload: string) => {
  try {
    return parseBrCode(payload)
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new ApiError(qrcodeErrors.brcode_invalid, `qr_code: ${error.message}.`)
  }
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

const centsOf = (text: unknown): number => {
  const cents =
    typeof text === 'string' && /^\d{1,10}(?:\.\d{1,2})?$/.test(text)
      ? Number(
          parseCents(text.includes('.') ? text.padEnd(text.indexOf('.') + 3, '0') : `${text}.00`),
        )
      : Number.NaN
  if (Number.isSafeInteger(cents)) return cents
  throw notPayable('malformed', 'The charge has no amount that can be read.')
}

const txidForm = /^[A-Za-z0-9]{26,35}$/
const keyForm = /^[!-~]{1,77}$/
const secondMs = 1_000

/** Some write the seconds as a text, as examples of the standard once did. */
const endOf = (made: unknown, seconds: unknown): number => {
  const isTold = typeof seconds === 'number' || /^\d{1,10}$/.test(String(seconds))
  const endsMs =
    typeof made === 'string' && isTold ? Date.parse(made) + Number(seconds) * secondMs : Number.NaN
  if (!Number.isNaN(endsMs)) return endsMs
  throw notPayable('malformed', 'The charge has an expiry that cannot be read.')
}

/** A charge as its location shows it (API Pix: CobPayload, CobVPayload). */
const payableOf = (charge: Fields, now: Date): Payable => {
  const { status, chave: key, txid } = charge
  const [amount, calendar] = [fieldsOf(charge['valor']), fieldsOf(charge['calendario'])]
  if (status !== 'ATIVA') throw notPayable('status', 'The charge is not open.')
  if (
    typeof key !== 'string' ||
    !keyForm.test(key) ||
    typeof txid !== 'string' ||
    !txidForm.test(txid)
  ) {
    throw notPayable('malformed', 'The charge has no key or txid that can be read.')
  }
  const { criacao: made, expiracao: seconds } = calendar
  // A charge with a due date shows no expiry: its location has refused what is too late.
  if (seconds != null && endOf(made, seconds) <= now.getTime()) {
    throw notPayable('expired', 'The charge has expired.')
  }
  return {
    kind: 'dynamic',
    key,
    txid,
    ...(amount['retirada'] == null
      ? {
          amountCents: centsOf(amount['final'] ?? amount['original']),
          isOpen: amount['modalidadeAlteracao'] === 1,
          withdrawal: undefined,
        }
      : withdrawalOf(fieldsOf(amount['retirada']), centsOf(amount['original']))),
  }
}

const agents = new Map<unknown, string>([
  ['AGTEC', 'AGTEC'],
  ['AGTOT', 'AGTOT'],
  ['AGPSS', 'AGFSS'],
])

/** CobPayload, `valor.retirada`. */
const withdrawalOf = (
  { saque, troco }: Fields,
  purchaseCents: number,
): Pick<Payable, 'amountCents' | 'isOpen' | 'withdrawal'> => {
  const kind = saque == null ? 'troco' : 'saque'
  const cash = fieldsOf(saque ?? troco)
  const { modalidadeAgente: agent, prestadorDoServicoDeSaque: facilitator } = cash
  const spelt = agents.get(agent)
  if (
    spelt === undefined ||
    typeof facilitator !== 'string' ||
    !ispbForm.test(facilitator) ||
    (saque != null && troco != null) ||
    (kind === 'saque') !== (purchaseCents === 0)
  ) {
    throw notPayable('malformed', 'The charge hands out cash in no way that can be read.')
  }
  const cashCents = centsOf(cash['valor'])
  return {
    // Without cash there is nothing to hand out: the payer says how much.
    amountCents: cashCents === 0 ? undefined : purchaseCents + cashCents,
    isOpen: cash['modalidadeAlteracao'] === 1,
    withdrawal: { kind, purchaseCents, agent: spelt, facilitator },
  }
}
