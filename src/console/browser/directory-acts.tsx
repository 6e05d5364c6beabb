import { type Act, allowed, may, type ScopedAct, sending } from './act.tsx'
import type { Session } from './api.ts'
import { dayStart } from './days.tsx'
import {
  amountOf,
  type Kind,
  listOf,
  matterOf,
  otherOf,
  pathOf,
  placeOf,
  type Told,
} from './directory-kinds.ts'
import { codeText, directoryWords as w } from './directory-words.ts'
import { type Field, givenIn, textIn, textsIn } from './fields.tsx'
import { centsIn } from './payment-acts.tsx'
import { IdLink } from './router.tsx'
import { Badge } from './state.tsx'
import { fill } from './words.ts'

const choicesOf = (codes: readonly string[]): NonNullable<Field['choices']> =>
  codes.map((code) => [code, codeText(code)])

const reasonField = (codes: readonly string[]): Field => ({
  name: 'reason',
  label: w.reason,
  choices: choicesOf(codes),
})
const paymentField: Field = { name: 'payment', label: w.payment }
const detailsField: Field = { name: 'details', label: w.details, isFree: true, isLong: true }
const analysisField: Field = { name: 'analysis', label: w.analysis, isFree: true, isLong: true }

type Asked = {
  readonly title: string
  readonly consequence: string
  readonly fields?: readonly Field[]
  /** The body of the request. */
  readonly bodyOf?: (form: FormData) => object | undefined
}

/** Makes one, and shows a link to it. */
const making = (kind: Kind, { title, consequence, fields = [], bodyOf }: Asked): Act => ({
  title,
  consequence,
  fields,
  run: sending('POST', listOf(kind), bodyOf, (made: Told) => (
    <>
      {w.made} <IdLink to={placeOf(kind, made)}>{made.id}</IdLink>
    </>
  )),
})

/** An act on one; shows that it is under way if the directory answers later. */
const acting = (
  kind: Kind,
  told: Told,
  name: string,
  { title, consequence, fields, bodyOf }: Asked,
): Act => ({
  title,
  consequence: fill(consequence, {
    key: matterOf(told),
    payment: matterOf(told),
    other: otherOf(told),
    amount: amountOf(told),
  }),
  ...(fields === undefined ? {} : { fields }),
  run: sending('POST', `${pathOf(kind, told)}/${name}`, bodyOf, ({ pending, status }: Told) =>
    pending === null ? <Badge status={status} /> : w.underWay,
  ),
})

const reasonIn = (form: FormData) => textsIn(form, 'reason')

const accountTypes = [
  ...([
    ['CACC', w.cacc],
    ['TRAN', w.tran],
    ['SLRY', w.slry],
    ['SVGS', w.svgs],
  ] as const),
]

const newClaim = making('claims', {
  title: w.newClaim,
  consequence: w.newClaimConsequence,
  fields: [
    {
      name: 'type',
      label: w.type,
      hint: w.portabilityHint,
      choices: [
        ['PORTABILITY', w.portability],
        ['OWNERSHIP', w.ownership],
      ],
    },
    {
      name: 'key_type',
      label: w.keyType,
      choices: ['CPF', 'CNPJ', 'PHONE', 'EMAIL'].map((one) => [one, one]),
    },
    { name: 'key', label: w.key },
    { name: 'tax_id', label: w.taxId },
    { name: 'name', label: w.name },
    { name: 'branch', label: w.branch, isFree: true },
    { name: 'number', label: w.number },
    { name: 'account_type', label: w.accountType, choices: accountTypes },
    { name: 'opened', label: w.openedOn, type: 'date' },
  ],
  bodyOf: (form) => ({
    ...textsIn(form, 'type', 'key_type', 'key'),
    claimer: {
      tax_id: textIn(form, 'tax_id').replaceAll(/[.\-/\s]/g, ''),
      name: textIn(form, 'name'),
    },
    account: {
      ...givenIn(form, 'branch'),
      number: textIn(form, 'number'),
      type: textIn(form, 'account_type'),
      opened_at: dayStart(textIn(form, 'opened')),
    },
  }),
})

/** The reasons that a person may give (DICT API, confirmClaim and cancelClaim); only deadlines give others. */
const claimReasons = {
  confirm: {
    OWNERSHIP: ['USER_REQUESTED'],
    PORTABILITY: ['USER_REQUESTED', 'ACCOUNT_CLOSURE'],
  },
  keep: {
    OWNERSHIP: ['FRAUD'],
    PORTABILITY: ['USER_REQUESTED', 'FRAUD'],
  },
  withdraw: {
    OWNERSHIP: ['USER_REQUESTED', 'ACCOUNT_CLOSURE', 'FRAUD', 'RFB_VALIDATION'],
    PORTABILITY: ['USER_REQUESTED', 'ACCOUNT_CLOSURE', 'FRAUD', 'RECONCILIATION', 'RFB_VALIDATION'],
  },
} as const

/** The reasons for which the claimer may cancel a portability that the donor has confirmed; the donor may not. */
const confirmedReasons = ['FRAUD', 'RECONCILIATION', 'RFB_VALIDATION']

const reasonsFor = ({ type, status }: Told, act: keyof typeof claimReasons): readonly string[] => {
  if (type === 'OWNERSHIP') return claimReasons[act].OWNERSHIP
  if (status === 'confirmed') return act === 'keep' ? [] : confirmedReasons
  const reasons = claimReasons[act].PORTABILITY
  return status === 'waiting_resolution'
    ? reasons.filter((reason) => reason !== 'RECONCILIATION')
    : reasons
}

/** No act if no reason is left. */
const claimAct = (told: Told, act: keyof typeof claimReasons): readonly Act[] => {
  const reasons = reasonsFor(told, act)
  if (reasons.length === 0) return []
  const asked = {
    title: w[act],
    consequence: w[`${act}Consequence`],
    fields: [reasonField(reasons)],
    bodyOf: reasonIn,
  }
  return [acting('claims', told, act === 'confirm' ? 'confirm' : 'cancel', asked)]
}

const claimActs = (told: Told): readonly Act[] => {
  const { role, status, type, pending } = told
  if (pending !== null || !['open', 'waiting_resolution', 'confirmed'].includes(status)) return []
  if (role === 'donor') {
    const confirm = status === 'waiting_resolution' ? claimAct(told, 'confirm') : []
    return [...confirm, ...claimAct(told, 'keep')]
  }
  const asked = { title: w.complete, consequence: w.completeConsequence }
  // A portability is completed without a person, since the key keeps its owner.
  const isProven = status === 'confirmed' && type === 'OWNERSHIP'
  const complete = isProven ? [acting('claims', told, 'complete', asked)] : []
  return [...complete, ...claimAct(told, 'withdraw')]
}

const newReport = making('infraction-reports', {
  title: w.newReport,
  consequence: w.newReportConsequence,
  fields: [
    paymentField,
    reasonField(['REFUND_REQUEST', 'REFUND_CANCELLED']),
    {
      name: 'situation',
      label: w.situation,
      choices: choicesOf(['SCAM', 'ACCOUNT_TAKEOVER', 'COERCION', 'FRAUDULENT_ACCESS', 'OTHER']),
    },
    detailsField,
    { name: 'email', label: w.email, isFree: true, type: 'email' },
    { name: 'phone', label: w.phone, isFree: true, type: 'tel' },
  ],
  bodyOf: (form) => {
    const contact = givenIn(form, 'email', 'phone')
    return {
      transaction_id: textIn(form, 'payment'),
      ...textsIn(form, 'reason', 'situation'),
      ...givenIn(form, 'details'),
      ...(Object.keys(contact).length === 0 ? {} : { contact }),
    }
  },
})

const nothing = () => ({})

const reportActs = (told: Told): readonly Act[] => {
  const { role, status } = told
  const act = (name: string, asked: Asked) => acting('infraction-reports', told, name, asked)
  if (role === 'asking') {
    if (!['open', 'acknowledged', 'closed'].includes(status)) return []
    const texts = { title: w.cancelReport, consequence: w.cancelReportConsequence }
    return [act('cancel', { ...texts, bodyOf: nothing })]
  }
  if (status === 'open') {
    const texts = { title: w.acknowledge, consequence: w.acknowledgeConsequence }
    return [act('acknowledge', { ...texts, bodyOf: nothing })]
  }
  if (status !== 'acknowledged') return []
  const closing = (result: string) => (form: FormData) => ({
    result,
    ...givenIn(form, 'fraud_type', 'analysis'),
  })
  const kindField: Field = {
    name: 'fraud_type',
    label: w.fraudType,
    choices: choicesOf(['SCAMMER_ACCOUNT', 'MULE_ACCOUNT', 'APPLICATION_FRAUD', 'OTHER']),
  }
  return [
    act('close', {
      title: w.agree,
      consequence: w.agreeConsequence,
      bodyOf: closing('AGREED'),
      fields: [kindField, analysisField],
    }),
    act('close', {
      title: w.disagree,
      consequence: w.disagreeConsequence,
      fields: [analysisField],
      bodyOf: closing('DISAGREED'),
    }),
  ]
}

const newRefund = making('refunds', {
  title: w.newRefund,
  consequence: w.newRefundConsequence,
  fields: [
    paymentField,
    reasonField(['FRAUD', 'OPERATIONAL_FLAW', 'PIX_AUTOMATICO']),
    { name: 'amount', label: w.amount },
    detailsField,
  ],
  bodyOf: (form) => ({
    transaction_id: textIn(form, 'payment'),
    ...reasonIn(form),
    amount: centsIn(form),
    ...givenIn(form, 'details'),
  }),
})

const refundActs = (told: Told): readonly ScopedAct[] => {
  const { role, status, pending, amount = '' } = told
  const act = (name: string, asked: Asked) => acting('refunds', told, name, asked)
  if (status !== 'open' || pending !== null) return []
  if (role === 'asking') {
    const texts = { title: w.cancelRefund, consequence: w.cancelRefundConsequence }
    return [{ scope: writeScope, act: act('cancel', { ...texts, bodyOf: nothing }) }]
  }
  const giveBack = act('close', {
    title: w.giveBack,
    consequence: w.giveBackConsequence,
    fields: [{ name: 'amount', label: w.amount, first: amount }, analysisField],
    bodyOf: (form) => {
      const cents = centsIn(form)
      const isAll = String(cents) === amount.replace('.', '').replace(/^0+(?=\d)/, '')
      return {
        ...(isAll
          ? { result: 'TOTALLY_ACCEPTED' }
          : { result: 'PARTIALLY_ACCEPTED', amount: cents }),
        ...givenIn(form, 'analysis'),
      }
    },
  })
  const reject = act('close', {
    title: w.reject,
    consequence: w.rejectConsequence,
    fields: [
      {
        name: 'rejection_reason',
        label: w.reason,
        choices: choicesOf(['NO_BALANCE', 'ACCOUNT_CLOSURE', 'INVALID_REQUEST', 'OTHER']),
      },
      analysisField,
    ],
    bodyOf: (form) => ({
      result: 'REJECTED',
      ...textsIn(form, 'rejection_reason'),
      ...givenIn(form, 'analysis'),
    }),
  })
  return [
    { scope: 'spi:send', act: giveBack },
    { scope: writeScope, act: reject },
  ]
}

export const newOf: Readonly<Record<Kind, Act>> = {
  claims: newClaim,
  'infraction-reports': newReport,
  refunds: newRefund,
}

const scopedActs = (kind: Kind, told: Told): readonly ScopedAct[] => {
  if (kind === 'refunds') return refundActs(told)
  const acts = kind === 'claims' ? claimActs(told) : reportActs(told)
  return acts.map((act) => ({ scope: writeScope, act }))
}

export const writeScope = 'dict:write'

/** The acts that its state and the session allow; the API judges again. */
export const directoryActs = (session: Session, kind: Kind, told: Told): readonly Act[] =>
  may(session, writeScope) ? allowed(session, scopedActs(kind, told)) : []
