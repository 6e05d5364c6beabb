import { afterAll, describe, expect, test } from 'bun:test'
import { exchange } from '../../../src/cards/use-cases/exchange.ts'
import { createNetworkRig, payment } from '../../support/card-network.ts'

const rig = await createNetworkRig({ timeoutMs: 1_500 })
afterAll(() => rig[Symbol.asyncDispose]())

let number = 0
const sent = (token: string) => payment(++number, { token })

describe('an exchange', () => {
  test('clears the card number as soon as the message is on its way', async () => {
    const request = sent('tok_visa_slow')
    const { pan } = request
    expect(pan?.some((digit) => digit !== 0)).toBe(true)
    const verdict = exchange(rig.network, request)
    expect(pan?.every((digit) => digit === 0)).toBe(true)
    await verdict
  })

  test('clears it where nothing can be sent', async () => {
    const request = Object.assign(sent('tok_visa_approved'), { stan: undefined })
    await expect(exchange(rig.network, request)).rejects.toThrow('no STAN')
    expect(request.pan?.every((digit) => digit === 0)).toBe(true)
  })

  test.each([
    ['tok_visa_approved', { kind: 'approved', responseCode: '00' }],
    ['tok_visa_declined_51', { kind: 'declined', responseCode: '51' }],
    ['tok_visa_timeout', { kind: 'unknown', why: 'timed_out' }],
    ['tok_visa_wrong_rrn', { kind: 'unknown', why: 'timed_out' }],
    ['tok_visa_wrong_amount', { kind: 'unknown', why: 'answer_mismatch', field: 'amount' }],
  ])('of %s means %p', async (token, verdict) => {
    expect(await exchange(rig.network, sent(token))).toMatchObject(verdict)
  })

  test('tells what went over the wire, with no card number', async () => {
    const request = sent('tok_visa_approved')
    const { stan = '' } = request
    const number = String.fromCharCode(...(request.pan ?? []))
    const { messages = [] } = await exchange(rig.network, request)
    expect(messages.map(({ mti }) => mti)).toEqual(['0100', '0110'])
    const masked = `${number.slice(0, 6)}******${number.slice(-4)}`
    expect(messages[0]?.fields).toMatchObject({ '002': masked, '011': stan })
    expect(messages[1]?.fields).toMatchObject({ '011': stan, '039': '00' })
    expect(JSON.stringify(messages)).not.toContain(number)
  })

  test('without an answer tells of the request alone', async () => {
    const { messages = [] } = await exchange(rig.network, sent('tok_visa_timeout'))
    expect(messages.map(({ mti }) => mti)).toEqual(['0100'])
  })

  test('with a network that stops has sent nothing', async () => {
    await using own = await createNetworkRig()
    await own.network.stop()
    expect(await exchange(own.network, sent('tok_visa_approved'))).toEqual({
      kind: 'not_sent',
      why: 'stopping',
    })
  })
})
