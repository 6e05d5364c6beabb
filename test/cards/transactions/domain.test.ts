import { describe, expect, test } from 'bun:test'
import {
  type CardEvent,
  type CardOperation,
  type CardState,
  cardStatuses,
  transition,
} from '../../../src/cards/transactions/domain.ts'
import { responseMessageOf } from '../../../src/cards/transactions/response-messages.ts'

const operations: readonly (CardOperation | undefined)[] = [
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
]
const events: readonly CardEvent[] = [
  'authorization_approved',
  'authorization_declined',
  'authorization_unwanted',
  'authorization_not_sent',
  'authorization_unknown',
  'verification_approved',
  'verification_declined',
  'verification_not_sent',
  'verification_unknown',
  'increment_started',
  'increment_approved',
  'increment_refused',
  'increment_unknown',
  'capture_started',
  'capture_approved',
  'capture_refused',
  'capture_unknown',
  'partial_capture_started',
  'partial_capture_approved',
  'partial_capture_refused',
  'partial_capture_unknown',
  'void_started',
  'void_approved',
  'void_refused',
  'void_unknown',
  'partial_void_started',
  'partial_void_approved',
  'partial_void_refused',
  'partial_void_unknown',
  'release_started',
  'release_approved',
  'release_refused',
  'release_unknown',
  'refund_started',
  'refund_approved',
  'refund_refused',
  'refund_unknown',
  'late_authorization',
  'late_capture',
  'late_refund',
  'late_increment',
  'late_void',
  'late_partial_void',
  'late_release',
  'authorization_expired',
  'rest_lapsed',
  'reversed_by_network',
  'reversal_confirmed',
  'reversal_denied',
  'reversal_denied_in_part',
]
const nameOf = ({ status, operation }: CardState): string =>
  operation === undefined ? status : `${status}+${operation}`

const stepsOf = (state: Pick<CardState, 'status' | 'capturedCents'>): readonly string[] =>
  operations.flatMap((operation) =>
    events.flatMap((event) => {
      const next = transition({ ...state, operation }, event)
      return next === undefined
        ? []
        : [`${nameOf({ ...state, operation })} ${event} ${nameOf(next)}`]
    }),
  )

describe('transition', () => {
  test('allows exactly these steps of an authorization that is captured in parts', () => {
    const inParts = stepsOf({ status: 'authorized', capturedCents: 1n })
    const before = stepsOf({ status: 'authorized' })
    expect(inParts.filter((step) => !before.includes(step))).toEqual([
      'authorized release_started authorized+release',
      'authorized refund_started authorized+refund',
      'authorized late_refund authorized+reversing_refund',
      'authorized late_release authorized+reversing_release',
      'authorized authorization_expired authorized+reversing_release',
      'authorized rest_lapsed captured',
      'authorized+void void_approved voided+reversing_authorization',
      'authorized+release release_approved captured',
      'authorized+release release_refused authorized',
      'authorized+release release_unknown authorized+reversing_release',
      'authorized+refund refund_approved authorized',
      'authorized+refund refund_refused authorized',
      'authorized+refund refund_unknown authorized+reversing_refund',
      'authorized+reversing_void reversal_confirmed voided+reversing_authorization',
      'authorized+reversing_release reversal_confirmed captured',
      'authorized+reversing_release reversal_denied authorized',
      'authorized+reversing_refund reversal_confirmed authorized',
      'authorized+reversing_refund reversal_denied authorized',
    ])
    expect(before.filter((step) => !inParts.includes(step))).toEqual([
      'authorized authorization_expired voided+reversing_authorization',
      'authorized reversed_by_network voided',
      'authorized+void void_approved voided',
      'authorized+reversing_void reversal_confirmed voided',
    ])
  })

  test('allows exactly these steps', () => {
    const steps = cardStatuses.flatMap((status) => stepsOf({ status }))
    expect(steps).toEqual([
      'pending authorization_approved authorized',
      'pending authorization_declined declined',
      'pending authorization_unwanted declined+reversing_authorization',
      'pending authorization_not_sent voided',
      'pending authorization_unknown pending+reversing_authorization',
      'pending+verification verification_approved verified',
      'pending+verification verification_declined declined',
      'pending+verification verification_not_sent voided',
      'pending+verification verification_unknown voided',
      'pending+reversing_authorization reversal_confirmed voided',
      'authorized increment_started authorized+increment',
      'authorized capture_started authorized+capture',
      'authorized partial_capture_started authorized+partial_capture',
      'authorized void_started authorized+void',
      'authorized partial_void_started authorized+partial_void',
      'authorized late_capture authorized+reversing_capture',
      'authorized late_increment authorized+reversing_increment',
      'authorized late_void authorized+reversing_void',
      'authorized late_partial_void authorized+reversing_partial_void',
      'authorized authorization_expired voided+reversing_authorization',
      'authorized reversed_by_network voided',
      'authorized+increment increment_approved authorized',
      'authorized+increment increment_refused authorized',
      'authorized+increment increment_unknown authorized+reversing_increment',
      'authorized+capture capture_approved captured',
      'authorized+capture capture_refused authorized',
      'authorized+capture capture_unknown authorized+reversing_capture',
      'authorized+partial_capture partial_capture_approved authorized',
      'authorized+partial_capture partial_capture_refused authorized',
      'authorized+partial_capture partial_capture_unknown authorized+reversing_capture',
      'authorized+void void_approved voided',
      'authorized+void void_refused authorized',
      'authorized+void void_unknown authorized+reversing_void',
      'authorized+partial_void partial_void_approved authorized',
      'authorized+partial_void partial_void_refused authorized',
      'authorized+partial_void partial_void_unknown authorized+reversing_partial_void',
      'authorized+reversing_capture reversal_confirmed authorized',
      'authorized+reversing_capture reversal_denied captured',
      'authorized+reversing_capture reversal_denied_in_part authorized',
      'authorized+reversing_void reversal_confirmed voided',
      'authorized+reversing_void reversal_denied authorized',
      'authorized+reversing_partial_void reversal_confirmed authorized',
      'authorized+reversing_partial_void reversal_denied authorized',
      'authorized+reversing_increment reversal_confirmed authorized',
      'authorized+reversing_increment reversal_denied authorized',
      'captured void_started captured+void',
      'captured refund_started captured+refund',
      'captured late_refund captured+reversing_refund',
      'captured late_increment captured+reversing_increment',
      'captured late_void captured+reversing_void',
      'captured+void void_approved voided+reversing_authorization',
      'captured+void void_refused captured',
      'captured+void void_unknown captured+reversing_void',
      'captured+refund refund_approved captured',
      'captured+refund refund_refused captured',
      'captured+refund refund_unknown captured+reversing_refund',
      'captured+reversing_void reversal_confirmed voided+reversing_authorization',
      'captured+reversing_void reversal_denied captured',
      'captured+reversing_increment reversal_confirmed captured',
      'captured+reversing_increment reversal_denied captured',
      'captured+reversing_refund reversal_confirmed captured',
      'captured+reversing_refund reversal_denied captured',
      'voided late_authorization voided+reversing_authorization',
      'voided late_capture voided+reversing_capture',
      'voided late_refund voided+reversing_refund',
      'voided late_increment voided+reversing_increment',
      'voided+reversing_authorization reversal_confirmed voided',
      'voided+reversing_capture reversal_confirmed voided+reversing_authorization',
      'voided+reversing_increment reversal_confirmed voided',
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
