import { type Act, sending } from './act.tsx'
import { agreementWords as w } from './agreement-words.ts'
import { textIn, textsIn } from './fields.tsx'
import { fill } from './words.ts'

export type Common = {
  readonly status: string
  readonly part: string
  readonly network: string
  readonly reference: string | null
  readonly tx_hash: string | null
  readonly error: { readonly message?: string } | null
  readonly created_at: string
  readonly updated_at: string
}

export type Delivery = Common & {
  readonly delivery_id: string
  readonly contract: string
  readonly operation_id: string
  readonly wallet: string
  readonly counterparty: string
  readonly bond: {
    readonly acronym: string
    readonly code: string
    readonly maturity_date: string
  }
  readonly amount: string
  readonly unit_price: string
  readonly price: string
}

export type Lien = Common & {
  readonly lien_id: string
  readonly contract: string | null
  readonly owner: string
  readonly beneficiary: string
  readonly pledged: string
  readonly expiry: string
  readonly document_hash: string
}

export type Step = {
  readonly kind: string
  readonly status: string
  readonly signer: string
  readonly tx_hash: string | null
  readonly attempt: number
}

const cancelAct = (one: Delivery): Act => ({
  title: w.cancel,
  consequence: fill(w.cancelConsequence, {
    operation: one.operation_id,
    amount: one.amount,
    price: one.price,
    bond: `${one.bond.acronym} ${one.bond.code}`,
    party: one.counterparty,
  }),
  fields: [{ name: 'reason', label: w.reason, isFree: true, more: { maxLength: 140 } }],
  run: sending(
    'POST',
    `/v1/drex/deliveries/${encodeURIComponent(one.delivery_id)}/cancel`,
    (form) => textsIn(form, 'reason'),
  ),
})

const lienPath = ({ lien_id: id }: Lien): string => `/v1/drex/liens/${encodeURIComponent(id)}/acts`

const textsOf = ({ pledged, owner, beneficiary }: Lien) => ({ pledged, owner, beneficiary })

const partialAct = (lien: Lien, act: 'pledge' | 'release', consequence: string): Act => ({
  title: w[act],
  consequence: fill(consequence, textsOf(lien)),
  fields: [{ name: 'amount', label: w.amount, more: { inputMode: 'decimal' } }],
  run: sending('POST', lienPath(lien), (form) => ({ act, amount: textIn(form, 'amount') })),
})

const reclaimAct = (lien: Lien): Act => ({
  title: w.reclaim,
  consequence: fill(w.reclaimConsequence, textsOf(lien)),
  run: sending('POST', lienPath(lien), () => ({ act: 'reclaim' })),
})

type Whole<T> = T & { readonly steps: readonly Pick<Step, 'kind' | 'status'>[] }

const ends = ['confirmed', 'reverted', 'failed', 'cancelled']
const isOpen = ({ status }: Pick<Step, 'status'>): boolean => !ends.includes(status)

/** The acts that our side may do now: none while a step is open. The contract judges again. */
export const lienActs = (lien: Whole<Lien>): readonly Act[] => {
  if (lien.status !== 'active' || lien.steps.some(isOpen)) return []
  if (lien.part === 'beneficiary') return [partialAct(lien, 'release', w.releaseConsequence)]
  return [
    partialAct(lien, 'pledge', w.pledgeConsequence),
    ...(Date.parse(lien.expiry) <= Date.now() ? [reclaimAct(lien)] : []),
  ]
}

/** Once our command is signed, only a call on the chain takes it back; while one is under way we offer no second. */
export const deliveryActs = (one: Whole<Delivery>): readonly Act[] => {
  const { status, steps } = one
  const isUnsigned = steps.some((step) => step.kind === 'command' && step.status === 'pending')
  const isLeaving = steps.some((step) => step.kind === 'call' && isOpen(step))
  const mayCancel = status === 'pending' ? isUnsigned : status === 'commanded' && !isLeaving
  return mayCancel ? [cancelAct(one)] : []
}
