import { type Act, type ScopedAct, sending } from './act.tsx'
import { centsAsked } from './amounts.ts'
import { type Field, textIn } from './fields.tsx'
import { decimalOf, minorOf, reais } from './format.ts'
import type { CardDetail } from './payment-facts.ts'
import { paymentWords as w } from './payment-words.ts'
import { statusText } from './state.tsx'
import { fill } from './words.ts'

/** @param most the first value of the field */
const amountField = (most: string, label: string): Field => ({
  name: 'amount',
  label,
  first: most,
  more: { inputMode: 'decimal' },
})

/** The typed amount in cents. The API says what is wrong with any other text. */
export const centsIn = (form: FormData): unknown => {
  const { amount = '' } = centsAsked(textIn(form, 'amount'))
  return /^\d{1,15}$/.test(amount) ? Number(amount) : amount
}

const openField: Field = { name: 'open', label: w.mayFollow, type: 'checkbox' }

const cardAct = (
  { id, amount, currency, merchant_id: merchant }: CardDetail,
  verb: 'capture' | 'void' | 'refund',
  texts: { readonly title: string; readonly consequence: string },
  most?: number,
): Act => ({
  title: texts.title,
  consequence: fill(texts.consequence, { amount: minorOf(most ?? amount, currency), merchant }),
  ...(most === undefined
    ? {}
    : {
        fields: [
          amountField(decimalOf(most), fill(w.amountIn, { currency })),
          ...(verb === 'capture' ? [openField] : []),
        ],
      }),
  run: sending('POST', `/v1/transactions/${encodeURIComponent(id)}/${verb}`, (form) =>
    most === undefined
      ? undefined
      : { amount: centsIn(form), ...(form.has(openField.name) ? { final: false } : {}) },
  ),
})

/**
 * The acts allowed while the network has yet to take an advice, if its rules let it. Any other operation allows none.
 */
const followers: Readonly<Record<string, readonly string[]>> = {
  advising_authorization: ['capture', 'void'],
  advising_capture: ['void'],
  advising_partial_capture: ['void'],
}

/** The acts that the state of a card payment allows. */
export const cardActs = (detail: CardDetail): readonly ScopedAct[] => {
  const { status, operation, amount, captured_amount: captured } = detail
  const { refunded_amount: refunded, reversed_amount: reversed = 0 } = detail
  const isAuthorized = status === 'authorized'
  if (!isAuthorized && status !== 'captured') return []
  const left = amount - reversed - (captured ?? 0)
  const refundable = (captured ?? 0) - (refunded ?? 0)
  const capture = { title: w.capture, consequence: w.captureConsequence }
  const refund = { title: w.refund, consequence: w.refundConsequence }
  const takeBack = { title: w.takeBack, consequence: w.takeBackConsequence }
  const acts = [
    ...(isAuthorized ? [{ verb: 'capture', texts: capture, most: left } as const] : []),
    ...(refundable > 0 ? [{ verb: 'refund', texts: refund, most: refundable } as const] : []),
    // After a refund, a void would give the money back twice.
    ...(refunded === undefined ? [{ verb: 'void', texts: takeBack } as const] : []),
  ]
  return acts
    .filter(({ verb }) => operation === undefined || followers[operation]?.includes(verb))
    .map(({ verb, texts, ...one }) => ({
      scope: `cards:${verb}`,
      act: cardAct(detail, verb, texts, 'most' in one ? one.most : undefined),
    }))
}

const reasons = [
  ['MD06', w.returnAsked],
  ['FR01', w.returnFraud],
  ['BE08', w.returnFault],
] as const

/** A payment that was received, and how much of it may still go back. */
export type Received = {
  readonly end_to_end_id: string
  readonly direction: string
  readonly amount: string
  readonly debtor_ispb: string
  readonly refundable: string
}

/** The act that gives a received payment back; none if nothing may go back. */
export const giveBackActs = (received: Received): readonly ScopedAct[] => {
  const { end_to_end_id: id, amount, refundable, debtor_ispb: from } = received
  if (received.direction !== 'INBOUND' || /^[0.]*$/.test(refundable)) return []
  const act: Act = {
    title: w.giveBack,
    consequence: fill(w.giveBackConsequence, { amount: reais(amount), from }),
    fields: [
      amountField(refundable, w.inReais),
      {
        name: 'reason',
        label: w.why,
        choices: reasons.map(([code, text]) => [code, `${code} · ${text}`]),
      },
    ],
    run: sending(
      'POST',
      `/v1/pix/payments/${encodeURIComponent(id)}/refunds`,
      (form) => ({ amount: centsIn(form), reason: textIn(form, 'reason') }),
      ({ status }: { status: string }) => fill(w.givenBack, { status: statusText(status) }),
    ),
  }
  return [{ scope: 'spi:send', act }]
}
