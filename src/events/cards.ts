import { z } from 'zod'
import { type EventGroups, text } from './group.ts'

const cents = z.int().meta({ description: 'Centavos.' })

const cardTransaction = z
  .strictObject({
    transaction_id: z.string(),
    status: z.enum(['authorized', 'declined', 'captured', 'voided', 'verified']),
    amount: cents,
    requested_amount: cents.nullable().meta({
      description: 'What was asked for, where the network approved a part.',
    }),
    captured_amount: cents.nullable(),
    refunded_amount: cents.nullable().meta({ description: 'The sum of its refunds.' }),
    reversed_amount: cents.nullable().meta({
      description: 'What partial voids took back of the authorization.',
    }),
    currency: z.string(),
    network: z.string(),
    brand: z.string(),
    merchant_id: z.string(),
    terminal_id: text,
    auth_code: text,
    response_code: text,
    stan: z.string(),
    rrn: z.string(),
    reason: text.meta({
      description: 'Why it ended without the caller’s doing: not_sent, timed_out, expired, …',
    }),
  })
  .meta({ id: 'CardTransactionEvent' })

export const cardEvents = {
  cards: {
    payload: cardTransaction,
    subject: 'transaction_id',
    types: {
      'card.transaction.authorized': 'The network has approved the authorization.',
      'card.transaction.incremented': 'The network has raised the authorized amount.',
      'card.transaction.declined': 'The network has declined the authorization.',
      'card.transaction.verified': 'The network has nothing against the card.',
      'card.transaction.captured': 'The network has approved the capture, the last of several.',
      'card.transaction.partially_captured':
        'The network has approved a capture that others may follow.',
      'card.transaction.voided': 'It was voided, was never sent, or its reversal is confirmed.',
      'card.transaction.expired': 'Nobody captured it in time, and what is left is released.',
      'card.transaction.refunded': 'The network has approved a refund.',
      'card.transaction.advice_refused':
        'The network refuses what was done while it was away: an authorization in its place, a capture or a refund.',
      'card.transaction.partially_voided': 'A part of the authorization was taken back.',
    },
  },
} as const satisfies EventGroups
