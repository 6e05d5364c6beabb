import { describe, expect, test } from 'bun:test'
import { reconciliationStatuses } from '../../src/cards/reconciliation/schema.ts'
import { bookedKinds } from '../../src/cards/reconciliation/totals.ts'
import { reversedOperations } from '../../src/cards/reversals/schema.ts'
import { cardStatuses } from '../../src/cards/transactions/domain.ts'
import { resolutions } from '../../src/cards/transactions/resolutions.ts'
import { outcomes } from '../../src/cards/use-cases/outcomes.ts'
import { comparisonStatuses } from '../../src/dict/comparisons/domain.ts'
import { entryStatuses } from '../../src/dict/entries/domain.ts'
import { deliveryStatuses, lienStatuses } from '../../src/drex/agreements/domain.ts'
import { transactionStatuses } from '../../src/drex/domain.ts'
import { walletStatuses } from '../../src/drex/wallets/store.ts'
import { claimStatuses, disputeStatuses } from '../../src/events/directory.ts'
import { messageStatuses, signatureVerdicts } from '../../src/spi/messages/domain.ts'
import { loadConsole } from './load-console.ts'

/* Every state of the API has words in both languages. */

type Words = {
  readonly statusText: (status: string) => string
  readonly eventText: (type: string) => string
}
const english = await loadConsole<Words>(['state.tsx'])
const portuguese = await loadConsole<Words>(['state.tsx'], 'pt')

const states = {
  cards: cardStatuses,
  resolutions,
  taken: reversedOperations,
  told: ['authorization', 'capture', 'partial_capture', 'refund'],
  first: Object.keys(outcomes),
  booked: bookedKinds,
  days: reconciliationStatuses,
  messages: messageStatuses,
  signatures: signatureVerdicts,
  transfers: transactionStatuses,
  wallets: walletStatuses,
  deliveries: deliveryStatuses,
  liens: lienStatuses,
  keys: entryStatuses,
  comparisons: comparisonStatuses,
  claims: claimStatuses,
  disputes: disputeStatuses,
} as const

describe.each(Object.entries(states))('%s', (_, names) => {
  test.each(names.map((name) => [name]))('%s', (name) => {
    const raw = name.toLowerCase().replaceAll('_', ' ')
    const texts = [english.statusText(name), portuguese.statusText(name)]
    expect(texts.some((text) => text !== raw)).toBe(true)
  })
})

const { railLists, kindsOf } = await loadConsole<{
  readonly railLists: Readonly<Record<string, { readonly statuses: readonly string[] }>>
  readonly kindsOf: Readonly<Record<string, { readonly statuses: readonly string[] }>>
}>(['rails.ts', 'directory-kinds.ts'])

test.each([
  ['Pix', railLists['spi'], messageStatuses],
  ['cards', railLists['cards'], cardStatuses],
  ['digital currency', railLists['drex'], transactionStatuses],
  ['claims', kindsOf['claims'], claimStatuses],
  ['reports', kindsOf['infraction-reports'], disputeStatuses],
  ['refunds', kindsOf['refunds'], disputeStatuses.filter((status) => status !== 'acknowledged')],
] as const)('%s are chosen by every status that they have', (_, list, names) => {
  expect(list?.statuses.toSorted()).toEqual([...names].sort())
})

const events = Object.entries(outcomes).flatMap(([operation, ends]) => [
  `${operation}_sent`,
  ...Object.values(ends).map(({ type }) => type as string),
])
const others = ['late_answer', 'network_advice', 'resolved', 'reversal_confirmed', 'advice_refused']

test.each([...new Set([...events, ...others])])('the event %s is told in Portuguese', (type) => {
  const own = new Set(type.split('_'))
  const left = portuguese
    .eventText(type)
    .split(' ')
    .filter((word) => own.has(word))
  expect(left).toEqual([])
})
