import { movementKinds, totalFields } from '../reconciliation/totals.ts'
import type { FieldForm, MessageName } from './form.ts'
import { cardNumber } from './sources.ts'

/** The content that a network's file changes: that of the gateway without any file. */

type Fields = Readonly<Record<string, FieldForm>>

/** The fields that all messages about payments have. */
export const baseFields: Fields = {
  '2': { from: cardNumber },
  '4': { from: 'amount' },
  '7': { from: 'transmission' },
  '11': { from: 'stan' },
  '37': { from: 'rrn' },
  '38': { from: 'auth_code' },
  '41': { from: 'terminal.id' },
  '42': { from: 'merchant.id' },
  '49': { from: 'currency' },
}

const purchase = '000000'
const returnOfGoods = '200000'

export type MessageDefault = {
  readonly mti: '0100' | '0120' | '0200' | '0220' | '0320' | '0400' | '0500' | '0800'
  readonly fields: Fields
}

const reversal = { '3': { from: 'original.processing_code' }, '90': { from: 'original' } }

/** The messages of what was decided while a network was away, by those in whose place they are. */
export const advisedMessages = {
  authorization_advice: 'authorization',
  capture_advice: 'capture',
  refund_advice: 'refund',
} as const
export type AdviceName = keyof typeof advisedMessages

export const isAdviceName = (name: MessageName): name is AdviceName =>
  Object.hasOwn(advisedMessages, name)

/** What the caller was told of the answer. */
const told = { '38': { from: 'auth_code' }, '39': { from: 'response_code' } }

const totals: Fields = Object.fromEntries(
  movementKinds.flatMap((kind) => [
    [String(totalFields[kind].count), { from: `totals.${kind}.number` }],
    [String(totalFields[kind].cents), { from: `totals.${kind}.amount` }],
  ]),
)

/** Whether messages of that name are about a payment. */
export const isAboutPayment = (name: MessageName): boolean =>
  name !== 'management' && name !== 'reconciliation'

export const baseMessages: Readonly<Record<MessageName, MessageDefault>> = {
  // DE 38 is that of an answer.
  authorization: { mti: '0100', fields: { '3': purchase, '38': null } },
  verification: { mti: '0100', fields: { '3': purchase, '38': null } },
  increment: { mti: '0100', fields: { '3': purchase } },
  capture: { mti: '0200', fields: { '3': purchase } },
  refund: { mti: '0200', fields: { '3': returnOfGoods } },
  // Beside all that the message in whose place they are has.
  authorization_advice: { mti: '0120', fields: told },
  capture_advice: { mti: '0220', fields: told },
  refund_advice: { mti: '0220', fields: told },
  reversal: { mti: '0400', fields: reversal },
  partial_reversal: { mti: '0400', fields: { ...reversal, '95': { from: 'replacement' } } },
  batch_upload: {
    mti: '0320',
    fields: { ...reversal, '15': { from: 'settlement.date' } },
  },
  reconciliation: {
    mti: '0500',
    fields: {
      '7': { from: 'transmission' },
      '11': { from: 'stan' },
      '15': { from: 'settlement.date' },
      '32': { from: 'acquirer.id' },
      '33': { from: 'forwarder.id' },
      '50': { from: 'currency' },
      ...totals,
      '97': { from: 'totals.net' },
    },
  },
  management: {
    mti: '0800',
    fields: {
      '7': { from: 'transmission' },
      '11': { from: 'stan' },
      '70': { from: 'network_code' },
    },
  },
}

/** How the gateway says in how many parts the holder pays, where no file says it. */
export const extendedPayment: Fields = { '67': { from: 'installments' } }
