import { expect, test } from 'bun:test'
import type { Network } from '../../src/cards/networks/index.ts'
import {
  type CardOperation,
  type CardStatus,
  cardStatuses,
  transition,
} from '../../src/cards/transactions/domain.ts'
import type { CardTransaction } from '../../src/cards/transactions/store.ts'
import { followsAdvice } from '../../src/cards/use-cases/going-on.ts'
import { loadConsole } from './load-console.ts'

/* The console offers those acts on a card payment that the API takes, in every state of it. */

const { cardActs } = await loadConsole<{
  readonly cardActs: (detail: object) => readonly { readonly scope: string }[]
}>(['payment-acts.tsx'])

const underWay: readonly (CardOperation | undefined)[] = [
  undefined,
  'verification',
  'increment',
  'capture',
  'partial_capture',
  'void',
  'partial_void',
  'release',
  'refund',
  'reversing_authorization',
  'reversing_capture',
  'reversing_void',
  'reversing_partial_void',
  'reversing_release',
  'reversing_increment',
  'reversing_refund',
  'advising_authorization',
  'advising_capture',
  'advising_partial_capture',
  'advising_refund',
]
const verbs = ['capture', 'refund', 'void'] as const
const amountCents = 10_000n

type State = {
  readonly status: CardStatus
  readonly operation: CardOperation | undefined
  readonly capturedCents: bigint | undefined
  readonly refundedCents: bigint | undefined
}

/** A network whose rules let everything go on while it is away. */
const advised = {
  advices: { may: () => true, floorCents: () => amountCents },
} as unknown as Network

/** Judges as the API does before it asks the network. */
const isTaken = (state: State, verb: (typeof verbs)[number]): boolean => {
  const transaction = { ...state, amountCents, currency: 'BRL' } as unknown as CardTransaction
  const mayBegin = transition(state, `${verb}_started`) !== undefined
  if (!mayBegin && !followsAdvice(advised, verb, transaction)) return false
  if (verb === 'void') return state.refundedCents === undefined
  return verb === 'capture' || (state.capturedCents ?? 0n) > (state.refundedCents ?? 0n)
}

const detailOf = ({ status, operation, capturedCents, refundedCents }: State) => ({
  id: 'txn_1',
  status,
  operation,
  amount: Number(amountCents),
  currency: 'BRL',
  captured_amount: capturedCents === undefined ? undefined : Number(capturedCents),
  refunded_amount: refundedCents === undefined ? undefined : Number(refundedCents),
  merchant_id: 'M1',
})

test.each(cardStatuses)('what is %s', (status) => {
  for (const operation of underWay) {
    for (const capturedCents of [undefined, 3_000n]) {
      for (const refundedCents of [undefined, 1_000n, 3_000n]) {
        const state = { status, operation, capturedCents, refundedCents }
        // No payment can have these advices.
        const isAdvised = operation?.startsWith('advising_') === true
        if (isAdvised && transition(state, 'advice_confirmed') === undefined) continue
        const offered = cardActs(detailOf(state)).map(({ scope }) => scope.replace('cards:', ''))
        const taken = verbs.filter((verb) => isTaken(state, verb))
        expect({ ...state, offered }).toEqual({ ...state, offered: taken })
      }
    }
  }
})
