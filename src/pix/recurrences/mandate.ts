import type { Queryable } from '#src/platform/database/index.ts'
import { firstCharacters } from '#src/platform/runtime/index.ts'
import { debtorTaxIdOf } from '../charges/domain.ts'
import { centsOf } from '../money.ts'
import { freshDatedId, type Payer, type Recurrence } from './domain.ts'

/** A message about a recurrence or its charges, by the parameters of its builder; whoever sends it is passed in. */
export type Draft =
  | { readonly type: 'pain.009' | 'pain.011' | 'pain.012'; readonly params: object }
  | { readonly type: 'PAIN013' | 'CAMT055'; readonly params: object }

/** Sends messages about recurrences. */
export type MandateSender = {
  readonly sendWithin: (tx: Queryable, drafts: readonly Draft[], at: Date) => Promise<void>
}

const nameCharsMax = 140

const frequencies = {
  SEMANAL: 'WEEK',
  MENSAL: 'MNTH',
  TRIMESTRAL: 'QURT',
  SEMESTRAL: 'MIAN',
  ANUAL: 'YEAR',
} as const

/** The terms that every message about a mandate repeats. */
export const mandateParams = (
  { id, taxId, receiverName, terms }: Recurrence,
  { taxId: document, ispb, account, branch }: Payer,
): object => {
  const debtor = debtorTaxIdOf(terms.debtor)
  return {
    mandate_id: id,
    frequency: frequencies[terms.period],
    first_collection_date: terms.startsOn,
    final_collection_date: terms.endsOn,
    ...(terms.amount === undefined ? {} : { amount: Number(centsOf(terms.amount)) }),
    creditor: { name: firstCharacters(receiverName.trim(), nameCharsMax), document: taxId },
    debtor: { document, ispb, account_num: account, branch: branch ?? undefined },
    // Another may owe than who pays.
    ...(debtor === undefined || debtor === document
      ? {}
      : { ultimate_debtor: { name: terms.debtor.nome, document: debtor } }),
    contract_number: terms.contract,
    contract_description: terms.object,
  }
}

/** pain.011: the receiver, or his institution, ends the recurrence or takes back a request for it. */
export const cancellationDraft = (
  recurrence: Recurrence,
  payer: Payer,
  { reason, ispb, at }: { readonly reason: string; readonly ispb: string; readonly at: Date },
): Draft => ({
  type: 'pain.011',
  params: {
    ...mandateParams(recurrence, payer),
    cancellation_id: freshDatedId('IC', ispb, at),
    requester_document: recurrence.taxId,
    reason,
    created_at: recurrence.createdAt.toISOString(),
  },
})

/** pain.012: what the payer's institution told is confirmed, or refused with a reason. */
export const reportDraft = (
  recurrence: Recurrence,
  payer: Payer,
  {
    ispb,
    at,
    ...said
  }: ({ readonly status: 'CFDB' | 'CCLD' } | { readonly reason: string }) & {
    /** The id of what is answered. */
    readonly reference: string | null
    readonly ispb: string
    readonly at: Date
  },
): Draft => ({
  type: 'pain.012',
  params: {
    ...mandateParams(recurrence, payer),
    ...said,
    report_id: freshDatedId('IS', ispb, at),
    debtor_town: payer.town ?? undefined,
    created_at: recurrence.createdAt.toISOString(),
    updated_at: at.toISOString(),
  },
})
