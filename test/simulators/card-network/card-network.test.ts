import { describe, expect, test } from 'bun:test'
import { formatOriginalData, formatReplacementAmounts, type GatewayMti } from '#codecs/iso8583'
import type { ExchangeOutcome } from '../../../src/cards/networks/index.ts'
import {
  type BehaviourName,
  behaviours,
  createCardNetwork,
  createTestVault,
  type TestBrand,
  testPan,
  testTokens,
} from '../../../src/simulators/card-network/index.ts'
import {
  createNetworkRig,
  networkOptions,
  payment,
  stanOf,
  until,
} from '../../support/card-network.ts'

const codeOf = (outcome: ExchangeOutcome): string | undefined =>
  outcome.kind === 'answered' ? outcome.response.responseCode : outcome.kind

/** DE 90 that names the payment of that number. */
const originalOf = (number: number, mti = '0100') => ({
  originalData: formatOriginalData({
    mti,
    stan: stanOf(number),
    transmissionDateTime: '1120120000',
    acquirerId: '',
    forwarderId: '',
  }),
})

const passesLuhn = (pan: Uint8Array): boolean =>
  [...pan].reverse().reduce((sum, byte, index) => {
    const digit = (byte - 48) * (index % 2 === 0 ? 1 : 2)
    return sum + (digit > 9 ? digit - 9 : digit)
  }, 0) %
    10 ===
  0

describe('test cards', () => {
  test('are valid numbers of their brand, each another', () => {
    const digits = [...testTokens].map(([token, pan]) => {
      expect(pan.length).toBe(16)
      expect(passesLuhn(pan)).toBe(true)
      expect(pan[0]).toBe(token.startsWith('tok_visa') ? 0x34 : 0x35)
      return Buffer.from(pan).toString()
    })
    expect(new Set(digits).size).toBe(testTokens.size)
    for (const code of ['01', '05', '14', '51', '54', '55', '57', '91', '96']) {
      for (const brand of ['visa', 'mastercard']) {
        expect(testTokens.has(`tok_${brand}_declined_${code}`)).toBe(true)
      }
    }
  })

  test('are declined with their code; an amount asks for the same', async () => {
    await using rig = await createNetworkRig()
    const ask = async (number: number, change: Parameters<typeof payment>[1]) =>
      codeOf(await rig.network.exchange(payment(number, change), 20_000))
    expect(await ask(1, {})).toBe('00')
    expect(await ask(2, { token: 'tok_mastercard_declined_51' })).toBe('51')
    expect(await ask(3, { amount: '000000990154' })).toBe('54')
    expect(await ask(4, { amount: '000000989999' })).toBe('00')
    expect(await ask(5, { amount: '000001000000' })).toBe('00')
    expect(await ask(6, { pan: new TextEncoder().encode('4111111111111112') })).toBe('14')
    // Nothing is asked for: the card is only looked at.
    expect(await ask(7, { amount: '000000000000' })).toBe('85')
    expect(rig.simulator.book().map(({ authorizedAmount }) => authorizedAmount)).toEqual([
      10_000, 0, 0, 989_999, 1_000_000, 0, 0,
    ])
  })
})

describe('the book', () => {
  test('captures and voids what was authorized, once', async () => {
    await using rig = await createNetworkRig()
    const { rrn } = payment(1)
    const send = async (number: number, mti: '0100' | '0200' | '0400' | '0401', change = {}) =>
      codeOf(await rig.network.exchange(payment(number, change, mti), 20_000))
    const entry = () => rig.simulator.book()[0]
    expect(await send(1, '0100')).toBe('00')
    expect(await send(1, '0100')).toBe('00')
    expect(entry()).toMatchObject({ requests: 2, authorizedAmount: 10_000, capturedAmount: 0 })
    expect(await send(2, '0200', { rrn, amount: '000000010001' })).toBe('13')
    expect(await send(3, '0200', { rrn, amount: '000000006000' })).toBe('00')
    expect(await send(3, '0200', { rrn, amount: '000000006000' })).toBe('00')
    expect(entry()).toMatchObject({ capturedAmount: 6_000 })
    expect(await send(4, '0400', { rrn, ...originalOf(3, '0200') })).toBe('00')
    expect(await send(4, '0401', { rrn, ...originalOf(3, '0200') })).toBe('00')
    expect(entry()).toMatchObject({ capturedAmount: 0, reversedAmount: 0 })
    expect(await send(5, '0400', { rrn, ...originalOf(1) })).toBe('00')
    expect(await send(5, '0401', { rrn, ...originalOf(1) })).toBe('00')
    expect(entry()).toMatchObject({ reversedAmount: 10_000, capturedAmount: 0 })
    expect(await send(6, '0400', { rrn: '632512999999', ...originalOf(9) })).toBe('25')
    expect(rig.simulator.book().length).toBe(1)
  })

  test('gives no more back than was paid, whether by refunds or by a reversal', async () => {
    await using rig = await createNetworkRig()
    const { rrn } = payment(1)
    const send = async (number: number, mti: '0100' | '0200' | '0400', change = {}) =>
      codeOf(await rig.network.exchange(payment(number, change, mti), 20_000))
    const refund = { processingCode: '200000', amount: '000000004000' }
    expect(await send(1, '0200')).toBe('00')
    expect(await send(2, '0200', { rrn, ...refund })).toBe('00')
    for (const named of [originalOf(1, '0200'), {}]) {
      expect(await send(3, '0400', { rrn, ...named })).toBe('12')
    }
    expect(rig.simulator.book()).toMatchObject([{ capturedAmount: 10_000, refundedAmount: 4_000 }])
    // What is refunded no more, the reversal gives back, once.
    expect(await send(4, '0400', { rrn, ...originalOf(2, '0200') })).toBe('00')
    for (const _ of [1, 2])
      expect(await send(5, '0400', { rrn, ...originalOf(1, '0200') })).toBe('00')
    const other = payment(6)
    expect(await send(6, '0100')).toBe('00')
    for (const number of [7, 8]) {
      expect(await send(number, '0200', { rrn: other.rrn, amount: '000000003000' })).toBe('00')
    }
    expect(await send(9, '0200', { rrn: other.rrn, ...refund })).toBe('00')
    expect(await send(10, '0400', { rrn: other.rrn, ...originalOf(7, '0200') })).toBe('12')
    expect(rig.simulator.book()).toMatchObject([
      { capturedAmount: 0, refundedAmount: 0 },
      { capturedAmount: 6_000, refundedAmount: 4_000 },
    ])
  })

  test('takes back of a sale what DE 95 leaves out of it, once, and no more than is not refunded', async () => {
    await using rig = await createNetworkRig()
    const { rrn } = payment(1)
    const send = async (number: number, mti: '0200' | '0400' | '0401', change = {}) =>
      codeOf(await rig.network.exchange(payment(number, change, mti), 20_000))
    const leaving = (transaction: bigint) => ({
      rrn,
      ...originalOf(1, '0200'),
      replacementAmounts: formatReplacementAmounts({
        transaction,
        settlement: 0n,
        transactionFee: 'D00000000',
        settlementFee: 'D00000000',
      }),
    })
    expect(await send(1, '0200')).toBe('00')
    expect(await send(2, '0400', leaving(7_500n))).toBe('00')
    expect(await send(2, '0401', leaving(7_500n))).toBe('00')
    expect(rig.simulator.book()).toMatchObject([{ capturedAmount: 7_500, reversedAmount: 2_500 }])
    const refund = { rrn, processingCode: '200000', amount: '000000007000' }
    expect(await send(3, '0200', refund)).toBe('00')
    expect(await send(4, '0400', leaving(6_000n))).toBe('12')
    expect(await send(5, '0400', leaving(7_000n))).toBe('00')
    expect(rig.simulator.book()).toMatchObject([
      { capturedAmount: 7_000, reversedAmount: 3_000, refundedAmount: 7_000 },
    ])
  })

  test('refunds by whatever type says so', async () => {
    await using rig = await createNetworkRig()
    const { rrn } = payment(1)
    const send = async (number: number, mti: GatewayMti, change = {}) =>
      codeOf(await rig.network.exchange(payment(number, change, mti), 20_000))
    expect(await send(1, '0100')).toBe('00')
    expect(await send(2, '0200', { rrn })).toBe('00')
    const refund = { rrn, processingCode: '200000', amount: '000000002000' }
    const mtis = ['0100', '0120', '0200', '0220'] as const
    for (const [at, mti] of mtis.entries()) expect(await send(3 + at, mti, refund)).toBe('00')
    expect(rig.simulator.book()).toMatchObject([
      { authorizedAmount: 10_000, capturedAmount: 10_000, refundedAmount: 8_000 },
    ])
    expect(await send(8, '0120', { ...refund, amount: '000000002001' })).toBe('13')
    expect(await send(9, '0400', { rrn, ...originalOf(3, '0100') })).toBe('00')
    expect(rig.simulator.book()).toMatchObject([{ refundedAmount: 6_000 }])
  })

  test('shows what became of payments whose answers were lost', async () => {
    await using rig = await createNetworkRig()
    const kinds: string[] = []
    for (const [index, name] of ['timeout', 'drop', 'drop_before', 'garbage'].entries()) {
      await until(() => rig.network.health().connectionsUp === 1)
      const token = `tok_visa_${name}`
      const timeoutMs = name === 'timeout' || name === 'garbage' ? 50 : 20_000
      const outcome = await rig.network.exchange(payment(index + 1, { token }), timeoutMs)
      kinds.push(outcome.kind)
    }
    expect(kinds).toEqual(['timed_out', 'connection_lost', 'connection_lost', 'timed_out'])
    expect(rig.simulator.book().map(({ stan }) => stan)).toEqual([stanOf(1), stanOf(2), stanOf(4)])
  })

  test('lies as the card asks: contradicts itself, answers for another, hears late or never', async () => {
    const late: (string | undefined)[] = []
    await using rig = await createNetworkRig({
      onLateAnswer: ({ response }) => late.push(response.responseCode),
    })
    const send = async (number: number, token: string) =>
      codeOf(await rig.network.exchange(payment(number, { token: `tok_visa_${token}` }), 60))
    const known = () => rig.simulator.book().map(({ stan }) => stan)
    expect(await send(1, 'contradicts')).toBe('91')
    await until(() => late.length === 1)
    expect(late).toEqual(['00'])
    expect(await send(2, 'wrong_card')).toBe('timed_out')
    expect(await send(3, 'lost')).toBe('timed_out')
    expect(await send(4, 'arrives_late')).toBe('timed_out')
    expect(known()).toEqual([stanOf(1), stanOf(2)])
    await until(() => late.length === 2)
    expect(known()).toEqual([stanOf(1), stanOf(2), stanOf(4)])
    expect(await send(5, 'half_open')).toBe('timed_out')
    expect(await send(6, 'approved')).toBe('timed_out')
    expect(rig.simulator.statistics().connections).toBe(1)
    expect(known()).toEqual([stanOf(1), stanOf(2), stanOf(4)])
  })

  test('answers a repeat as it answered the first', async () => {
    await using rig = await createNetworkRig()
    const { rrn } = payment(1)
    await rig.network.exchange(payment(1), 20_000)
    const part = { rrn, amount: '000000001000' }
    await rig.network.exchange(payment(2, part, '0220'), 20_000)
    rig.simulator.setFaults({ decline: 1 })
    const repeat = await rig.network.exchange(payment(2, part, '0221'), 20_000)
    expect(codeOf(repeat)).toBe('00')
    const other = await rig.network.exchange(payment(3, part, '0220'), 20_000)
    expect(codeOf(other)).toBe('05')
  })

  test('lets voids and captures go wrong as the card asks', async () => {
    await using rig = await createNetworkRig()
    const send = async (
      number: number,
      mti: '0100' | '0200' | '0400' | '0401',
      change: Parameters<typeof payment>[1],
      timeoutMs = 20_000,
    ) => codeOf(await rig.network.exchange(payment(number, change, mti), timeoutMs))
    const silent = { token: 'tok_visa_void_timeout' }
    expect(await send(1, '0100', silent)).toBe('00')
    const reversal = { ...silent, rrn: payment(1).rrn, ...originalOf(1) }
    expect(await send(2, '0400', reversal, 60)).toBe('timed_out')
    expect(await send(2, '0401', reversal)).toBe('00')
    const refused = { token: 'tok_visa_void_declined' }
    expect(await send(3, '0100', refused)).toBe('00')
    expect(await send(4, '0400', { rrn: payment(3).rrn, ...originalOf(3) })).toBe('57')
    const declined = { token: 'tok_visa_capture_declined' }
    expect(await send(5, '0100', declined)).toBe('00')
    expect(await send(6, '0200', { ...declined, rrn: payment(5).rrn })).toBe('05')
    const unanswered = { token: 'tok_visa_capture_timeout' }
    expect(await send(7, '0100', unanswered)).toBe('00')
    expect(await send(8, '0200', { ...unanswered, rrn: payment(7).rrn }, 60)).toBe('timed_out')
    expect(rig.simulator.book().map(({ capturedAmount }) => capturedAmount)).toEqual([
      0, 0, 0, 10_000,
    ])
  })

  test('leaves the first reversal of a capture that never came unanswered, and says then that it never came', async () => {
    await using rig = await createNetworkRig()
    const silent = { token: 'tok_visa_void_timeout' }
    await rig.network.exchange(payment(1, silent), 20_000)
    const { rrn } = payment(1)
    const reversal = { ...silent, rrn, ...originalOf(2, '0200') }
    const first = await rig.network.exchange(payment(3, reversal, '0400'), 60)
    expect(codeOf(first)).toBe('timed_out')
    const second = await rig.network.exchange(payment(3, reversal, '0401'), 20_000)
    expect(codeOf(second)).toBe('25')
    expect(rig.simulator.book()).toMatchObject([{ reversals: 2, reversedAmount: 0 }])
  })

  test('outlives a restart on the same port', async () => {
    await using rig = await createNetworkRig()
    await rig.network.exchange(payment(1), 20_000)
    const port = rig.simulator.port()
    rig.simulator.stop()
    await until(() => rig.network.health().connectionsUp === 0)
    rig.simulator.start()
    expect(rig.simulator.port()).toBe(port)
    await until(() => rig.network.health().connectionsUp === 1)
    const { rrn } = payment(1)
    const outcome = await rig.network.exchange(
      payment(2, { rrn, ...originalOf(1) }, '0400'),
      20_000,
    )
    expect(codeOf(outcome)).toBe('00')
  })
})

describe('chance', () => {
  test('brings the same faults for the same seed', async () => {
    const run = async () => {
      await using rig = await createNetworkRig(
        {},
        { seed: 42, faults: { no_answer: 0.2, duplicate: 0.2 } },
      )
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => rig.network.exchange(payment(index + 1), 50)),
      )
      // What was not answered in time may not even have been read by then.
      await until(() => rig.simulator.statistics().received['0100'] === 100)
      return rig.simulator.statistics().behaviours
    }
    const first = await run()
    expect(first.no_answer ?? 0).toBeGreaterThan(5)
    expect(first.duplicate ?? 0).toBeGreaterThan(5)
    expect(await run()).toEqual(first)
  })

  test('brings faults of one kind of message with that kind, and counts no others', async () => {
    const after = async (fault: BehaviourName, ...change: Parameters<typeof payment>) => {
      await using rig = await createNetworkRig({}, { faults: { [fault]: 1 } })
      const opened = codeOf(await rig.network.exchange(payment(1), 20_000))
      const { rrn } = payment(1)
      const [number, more, mti] = change
      const message = payment(number, { rrn, ...more }, mti)
      const second = codeOf(await rig.network.exchange(message, 200))
      await until(() => Object.values(rig.simulator.statistics().received).length > 1)
      return [opened, second, rig.simulator.statistics().behaviours]
    }
    const declined = (name: BehaviourName) => ['00', '05', { approve: 1, [name]: 1 }]
    const silent = ['00', 'timed_out', { approve: 1, no_answer: 1 }]
    const capture = [2, {}, '0200'] as const
    const refund = [2, { processingCode: '200000' }, '0200'] as const
    const reversal = [2, originalOf(1), '0400'] as const
    expect(await after('capture_decline', ...capture)).toEqual(declined('capture_decline'))
    expect(await after('capture_no_answer', ...capture)).toEqual(silent)
    expect(await after('refund_decline', ...refund)).toEqual(declined('refund_decline'))
    expect(await after('refund_no_answer', ...refund)).toEqual(silent)
    expect(await after('void_decline', ...reversal)).toEqual(declined('void_decline'))
    expect(await after('void_no_answer', ...reversal)).toEqual(silent)
    expect(await after('void_decline', ...capture)).toEqual(['00', '00', { approve: 2 }])
    expect(await after('partial', ...capture)).toEqual(['10', '13', { partial: 1, approve: 1 }])
  })

  test('is refused when it is no chance', () => {
    const { dialect, framing } = networkOptions(1)
    expect(() => createCardNetwork({ dialect, framing, faults: { late: 1.1 } })).toThrow('chances')
    expect(() => createCardNetwork({ dialect, framing, faults: { late: -1 } })).toThrow('chances')
  })
})

describe('the test vault', () => {
  test('gives the digits as bytes to whoever has the key', async () => {
    const vault = createTestVault({ key: 'k' })
    const ask = (body: string, key = 'k', path = '/resolve', method = 'POST') =>
      fetch(vault.url + path, {
        method,
        headers: { authorization: `Bearer ${key}` },
        ...(method === 'POST' && { body }),
      })
    for (const brand of ['visa', 'mastercard'] as TestBrand[]) {
      const response = await ask(JSON.stringify({ token: `tok_${brand}_declined_51` }))
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/octet-stream')
      expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([
        ...testPan(brand, { name: 'decline', argument: 51 }),
      ])
    }
    expect((await ask('{"token":"tok_none"}')).status).toBe(404)
    expect((await ask('{"token":"tok_visa_approved"}', 'other')).status).toBe(401)
    expect((await ask('{"token":1}')).status).toBe(400)
    expect((await ask('no JSON')).status).toBe(400)
    expect((await ask('{}', 'k', '/other')).status).toBe(404)
    expect((await ask('', 'k', '/resolve', 'GET')).status).toBe(405)
    await vault.stop()
  })
})

test('every behaviour has a number of its own', () => {
  expect(new Set(Object.values(behaviours)).size).toBe(Object.keys(behaviours).length)
})
