import { describe, expect, test } from 'bun:test'
import {
  type CardEvent,
  type CardOperation,
  type CardState,
  cardStatuses,
  responseMessageOf,
  transition,
} from '../../../src/cards/transactions/domain.ts'

const operations: readonly (CardOperation | undefined)[] = [
  undefined,
  'capture',
  'void',
  'partial_void',
  'refund',
  'reversing_authorization',
  'reversing_capture',
  'reversing_void',
  'reversing_partial_void',
  'reversing_refund',
]
const events: readonly CardEvent[] = [
  'authorization_approved',
  'authorization_declined',
  'authorization_unwanted',
  'authorization_not_sent',
  'authorization_unknown',
  'capture_started',
  'capture_approved',
  'capture_refused',
  'capture_unknown',
  'void_started',
  'void_approved',
  'void_refused',
  'void_unknown',
  'partial_void_started',
  'partial_void_approved',
  'partial_void_refused',
  'partial_void_unknown',
  'refund_started',
  'refund_approved',
  'refund_refused',
  'refund_unknown',
  'late_authorization',
  'late_capture',
  'late_refund',
  'reversal_confirmed',
  'reversal_denied',
]
const nameOf = ({ status, operation }: CardState): string =>
  operation === undefined ? status : `${status}+${operation}`

describe('transition', () => {
  test('allows exactly these steps', () => {
    const steps = cardStatuses.flatMap((status) =>
      operations.flatMap((operation) =>
        events.flatMap((event) => {
          const next = transition({ status, operation }, event)
          return next === undefined
            ? []
            : [`${nameOf({ status, operation })} ${event} ${nameOf(next)}`]
        }),
      ),
    )
    expect(steps).toEqual([
      'pending authorization_approved authorized',
      'pending authorization_declined declined',
      'pending authorization_unwanted declined+reversing_authorization',
      'pending authorization_not_sent voided',
      'pending authorization_unknown pending+reversing_authorization',
      'pending+reversing_authorization reversal_confirmed voided',
      'authorized capture_started authorized+capture',
      'authorized void_started authorized+void',
      'authorized partial_void_started authorized+partial_void',
      'authorized late_capture authorized+reversing_capture',
      'authorized+capture capture_approved captured',
      'authorized+capture capture_refused authorized',
      'authorized+capture capture_unknown authorized+reversing_capture',
      'authorized+void void_approved voided',
      'authorized+void void_refused authorized',
      'authorized+void void_unknown authorized+reversing_void',
      'authorized+partial_void partial_void_approved authorized',
      'authorized+partial_void partial_void_refused authorized',
      'authorized+partial_void partial_void_unknown authorized+reversing_partial_void',
      'authorized+reversing_capture reversal_confirmed authorized',
      'authorized+reversing_capture reversal_denied captured',
      'authorized+reversing_void reversal_confirmed voided',
      'authorized+reversing_void reversal_denied authorized',
      'authorized+reversing_partial_void reversal_confirmed authorized',
      'authorized+reversing_partial_void reversal_denied authorized',
      'captured void_started captured+void',
      'captured refund_started captured+refund',
      'captured late_refund captured+reversing_refund',
      'captured+void void_approved voided+reversing_authorization',
      'captured+void void_refused captured',
      'captured+void void_unknown captured+reversing_void',
      'captured+refund refund_approved captured',
      'captured+refund refund_refused captured',
      'captured+refund refund_unknown captured+reversing_refund',
      'captured+reversing_void reversal_confirmed voided+reversing_authorization',
      'captured+reversing_void reversal_denied captured',
      'captured+reversing_refund reversal_confirmed captured',
      'captured+reversing_refund reversal_denied captured',
      'voided late_authorization voided+reversing_authorization',
      'voided late_capture voided+reversing_capture',
      'voided late_refund voided+reversing_refund',
      'voided+reversing_authorization reversal_confirmed voided',
      'voided+reversing_capture reversal_confirmed voided',
      'voided+reversing_refund reversal_confirmed voided',
      'declined late_authorization declined+reversing_authorization',
      'declined+reversing_authorization reversal_confirmed declined',
    ])
  })
})

test('response codes in words', () => {
  expect(responseMessageOf('00')).toBe('Approved')
  expect(responseMessageOf('51')).toBe('Insufficient funds')
  expect(responseMessageOf('Z9')).toBe('Declined')
  expect(responseMessageOf('toString')).toBe('Declined')
})
