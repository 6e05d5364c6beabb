import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { dialects, type Framing, formatOriginalData, framings } from '#codecs/iso8583'
import { createNetwork } from '../../src/cards/networks/index.ts'
import {
  type CardNetwork,
  createCardNetwork,
  testPan,
} from '../../src/simulators/card-network/index.ts'
import { networkOptions, payment, stanOf, until } from '../support/card-network.ts'
import {
  authorizationBody,
  type CardRecord,
  type CardsRig,
  createCardsRig,
} from '../support/cards-rig.ts'
import {
  isJposHere,
  type JposEntry,
  type JposNetwork,
  jposCommand,
  startJpos,
} from '../support/jpos.ts'

setDefaultTimeout(180_000)

const note = isJposHere ? '' : ' [skipped: no java, no mvn or no jPOS to be had]'

const profiles: Readonly<Record<string, Framing>> = {
  ascii: framings['binary-2'],
  bcd: framings['binary-2-tpdu'],
  'ascii-hex': framings['ascii-4'],
}

type Step = readonly [
  path: string,
  body: Readonly<Record<string, unknown>> | undefined,
  status: number,
]

/** jPOS declines 51.00, approves 20.00 of 52.01, and acts on 999.01 in silence until it is repeated. */
const payments: readonly (readonly Step[])[] = [
  [['authorize', { amount: 10_000 }, 201]],
  [
    ['authorize', { amount: 10_100 }, 201],
    ['capture', undefined, 200],
  ],
  [
    ['authorize', { amount: 20_000 }, 201],
    ['capture', { amount: 15_000 }, 200],
  ],
  [
    ['authorize', { amount: 10_300, installments: 3 }, 201],
    ['void', undefined, 200],
  ],
  [
    ['authorize', { amount: 10_400, capture: true }, 201],
    ['void', undefined, 200],
  ],
  [['authorize', { amount: 5_100 }, 201]],
  [
    ['authorize', { amount: 10_500 }, 201],
    ['capture', { amount: 5_100 }, 422],
  ],
  [['authorize', { amount: 99_901 }, 504]],
  [
    ['authorize', { amount: 100_000 }, 201],
    ['capture', { amount: 99_901 }, 504],
  ],
  [
    ['authorize', { amount: 20_100, capture: true }, 201],
    ['refund', { amount: 4_000 }, 200],
    ['refund', { amount: 16_101 }, 400],
    ['refund', { amount: 5_100 }, 422],
    ['void', undefined, 409],
    ['refund', undefined, 200],
  ],
  [
    ['authorize', { amount: 20_200 }, 201],
    ['void', { amount: 5_000 }, 200],
    ['void', { amount: 200 }, 200],
    ['capture', { amount: 15_001 }, 400],
    ['capture', undefined, 200],
  ],
  [
    ['authorize', { amount: 20_300 }, 201],
    ['void', { amount: 300 }, 200],
    ['void', undefined, 200],
  ],
  [
    ['authorize', { amount: 100_000, capture: true }, 201],
    ['refund', { amount: 99_901 }, 504],
  ],
  [
    ['authorize', { amount: 20_400 }, 201],
    ['capture', { amount: 4_000, final: false }, 200],
    ['capture', { amount: 6_000, final: false }, 200],
    ['capture', { amount: 10_401 }, 400],
    ['capture', { amount: 10_300 }, 200],
    ['void', undefined, 200],
  ],
  [
    ['authorize', { amount: 200_000 }, 201],
    ['capture', { amount: 40_000, final: false }, 200],
    ['capture', { amount: 99_901, final: false }, 504],
  ],
  [
    ['authorize', { amount: 20_500 }, 201],
    ['capture', { amount: 4_000, final: false }, 200],
    ['void', { amount: 1_000 }, 200],
    ['refund', { amount: 500 }, 200],
    ['void', { amount: 15_500 }, 200],
  ],
  [
    ['authorize', { amount: 20_600 }, 201],
    ['increment', { amount: 5_100 }, 422],
    ['increment', { amount: 400 }, 200],
    ['capture', { amount: 20_900, final: false }, 200],
    ['increment', { amount: 1_000 }, 200],
    ['capture', undefined, 200],
  ],
  [
    ['authorize', { amount: 20_700 }, 201],
    ['increment', { amount: 300 }, 200],
    ['increment', { amount: 99_901 }, 504],
    ['void', undefined, 200],
  ],
  [
    ['authorize', { amount: 5_201, accept_partial: true, capture: true }, 201],
    ['refund', { amount: 2_001 }, 400],
  ],
  [['authorize', { amount: 5_201 }, 201]],
  [['verify', { amount: undefined }, 201]],
]

/** Takes the steps one after the other. @returns the id of the transaction */
const pay = async ({ post, settled }: CardsRig, steps: readonly Step[]): Promise<string> => {
  let id = ''
  for (const [path, body, status] of steps) {
    const isFirst = path === 'authorize' || path === 'verify'
    const response = await (isFirst
      ? post(`/v1/transactions/${path}`, authorizationBody('tok_visa_approved', body))
      : post(`/v1/transactions/${id}/${path}`, body))
    const answer = (await response.json()) as AnswerBody
    // What is being taken back is waited for before the next step.
    if (response.status === 504) await settled(answer.error?.details.transaction_id ?? '')
    if (response.status !== status) throw new Error(`${path}: ${JSON.stringify(answer)}`)
    id = answer.id ?? answer.error?.details.transaction_id ?? id
  }
  return id
}

type AnswerBody = {
  readonly id?: string
  readonly error?: { readonly details: { readonly transaction_id?: string } }
}

describe.skipIf(!isJposHere)(`jPOS as the network${note}`, () => {
  let jpos: JposNetwork
  beforeAll(async () => {
    jpos = await startJpos()
  })
  afterAll(async () => {
    expect(await jpos?.stop()).toBe(0)
  })

  test.each(Object.entries(profiles))('takes our messages: %s', async (profile, framing) => {
    const network = createNetwork(
      networkOptions(jpos.port(profile), {
        dialect: dialects[profile]!,
        framing,
        poolSize: 2,
        signOn: true,
        echoMs: 300,
        reconnect: { backoffFirstMs: 200, backoffMaxMs: 500 },
      }),
    )
    network.start()
    await until(() => network.health().connectionsUp === 2, 'the sign-on')
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, index) => {
        const amount = String((index + 1) * 100).padStart(12, '0')
        return network.exchange(payment(index + 1, { amount }), 10_000)
      }),
    )
    const codes = outcomes.map((one) =>
      one.kind === 'answered' ? [one.response.responseCode, one.response.amount] : [one.kind],
    )
    expect(codes).toEqual(
      outcomes.map((_, index) => [
        index === 50 ? '51' : '00',
        String((index + 1) * 100).padStart(12, '0'),
      ]),
    )
    const [first] = outcomes
    expect(first?.kind === 'answered' && first.response.authCode).toBe('A1B2C3')
    const originalData = formatOriginalData({
      mti: '0100',
      stan: stanOf(1),
      transmissionDateTime: '1120120000',
      acquirerId: '',
      forwarderId: '',
    })
    for (const [mti, code] of [
      ['0400', '00'],
      ['0401', '94'],
    ] as const) {
      const message = payment(1, { originalData, amount: '000000000100' }, mti)
      const reversed = await network.exchange(message, 10_000)
      expect(reversed.kind === 'answered' && reversed.response.mti).toBe('0410')
      expect(reversed.kind === 'answered' && reversed.response.responseCode).toBe(code)
    }
    await until(() => network.health().lastEcho !== undefined, 'the echo test')
    expect(network.health().connectionsUp).toBe(2)
    await network.stop()
    await until(() => jpos.count(`${profile} got 0810 301 00`) === 2, 'both 0810')
    await until(() => jpos.count(`${profile} got 0800 002 null`) === 2, 'both sign-offs')
    expect(jpos.output()).not.toContain(`${profile} failed`)
  })

  test('authorizes, captures, voids, declines and is silent, and its book is ours', async () => {
    await using rig = await createCardsRig({
      timeoutMs: 1_500,
      poolSize: 2,
      networkA: { port: () => jpos.port('payments'), stop: () => undefined },
      environment: { CARDGW_NETA_SIGN_ON: 'true' },
    })
    const ids = await Promise.all(payments.map((steps) => pay(rig, steps)))
    const records = await Promise.all(ids.map((id) => rig.settled(id)))
    const book = await jpos.book('payments')
    const entries = records.map((record) => book.get(String(record['rrn'])))
    expect(records.map(({ status }, index) => [status, entries[index]?.messages])).toEqual([
      ['authorized', '0100'],
      ['captured', '0100,0200'],
      ['captured', '0100,0200'],
      ['voided', '0100,0400'],
      ['voided', '0100,0200,0400,0400'],
      ['declined', '0100'],
      ['authorized', '0100,0200'],
      ['voided', '0100,0400,0401'],
      ['authorized', '0100,0200,0400,0401'],
      ['captured', '0100,0200,0200R,0200R,0200R'],
      ['captured', '0100,0400,0400,0200'],
      ['voided', '0100,0400,0400'],
      ['captured', '0100,0200,0200R,0400,0401'],
      ['voided', '0100,0200,0200,0200,0400,0400,0400,0400'],
      ['authorized', '0100,0200,0200,0400,0401'],
      ['captured', '0100,0200,0400,0200R,0400'],
      ['captured', '0100,0100I,0100I,0200,0100I,0200'],
      ['voided', '0100,0100I,0100I,0400,0401,0400'],
      ['captured', '0100,0200'],
      ['declined', '0100,0400'],
      ['verified', '0100'],
    ])
    expect(entries.map((entry) => ({ ...entry, messages: '' }))).toEqual(records.map(expectedEntry))
    expect(book.size).toBe(records.length)
    await tellsOfPayments(jpos, rig)
    expect(jpos.output()).not.toContain('payments failed')
  })
})

/** What jPOS tells is answered, as often as it tells it, and counts once. */
const tellsOfPayments = async (jpos: JposNetwork, rig: CardsRig): Promise<void> => {
  for (const [capture, last, end] of [
    [true, '0230', { status: 'captured' }],
    [false, '0430', { status: 'voided', reason: 'reversed_by_network' }],
  ] as const) {
    const { id, rrn } = await rig.authorize('tok_visa_approved', { capture })
    await jpos.advise('payments', String(rrn))
    for (const answer of ['0130', '0630', last]) {
      const line = `payments told ${answer} ${rrn} 00`
      await until(() => jpos.count(line) === 2, line)
    }
    const { needs_attention, ...record } = await rig.settled(id)
    expect(record).toMatchObject(end)
    expect(needs_attention).toBeUndefined()
    const told = await rig.database.sql`
      select data ->> 'mti' as mti from card_events
      where transaction_id = ${id} and type = 'network_advice' order by mti`
    const mtis = ['0120', `${last.slice(0, 2)}20`, '0620'].toSorted()
    expect(told.map(({ mti }) => mti)).toEqual(mtis)
  }
}

/** What the network must hold of a payment that we have like this. */
const expectedEntry = ({ status, ...record }: CardRecord): JposEntry => {
  const isPart = record['response_code'] === '10'
  const amount = isPart ? 2_000 : Number(record['amount'])
  return {
    authorized: status === 'declined' && !isPart ? 0 : amount,
    captured: status === 'voided' ? 0 : Number(record['captured_amount'] ?? 0),
    reversed:
      status === 'voided' || (status === 'declined' && isPart)
        ? amount
        : Number(record['reversed_amount'] ?? 0),
    refunded: Number(record['refunded_amount'] ?? 0),
    messages: '',
  }
}

describe.skipIf(!isJposHere)(`jPOS as the gateway${note}`, () => {
  const simulators = new Map<string, CardNetwork>()
  let output = ''

  beforeAll(async () => {
    for (const [profile, framing] of Object.entries(profiles)) {
      const dialect = dialects[profile]!
      const simulator = createCardNetwork({ dialect, framing, needsSignOn: true })
      simulator.start()
      simulators.set(profile, simulator)
    }
    const peers = [...simulators].map(([profile, simulator]) => `${profile}:${simulator.port()}`)
    const client = Bun.spawn(jposCommand('client', '127.0.0.1', ...peers), {
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: 60_000,
    })
    const [out, err] = await Promise.all([
      new Response(client.stdout).text(),
      new Response(client.stderr).text(),
    ])
    if ((await client.exited) !== 0) throw new Error(err)
    output = out
  })

  afterAll(() => {
    for (const simulator of simulators.values()) simulator.stop()
  })

  test.each(Object.keys(profiles))('takes the simulated network: %s', (profile) => {
    const declined = testPan('visa', { name: 'decline', argument: 51 })
    expect(Buffer.from(declined).toString()).toBe('4000000151000009')
    const authorized = Array.from({ length: 20 }, (_, index) => {
      const number = index + 1
      const amount = String(number * 100).padStart(12, '0')
      return `0110 ${stanOf(number)} 00 ${amount} ${stanOf(number)}`
    })
    const start = `${profile} `
    const lines = output.split('\n').filter((line) => line.startsWith(start))
    expect(lines.map((line) => line.slice(start.length))).toEqual([
      '0810 000001 00 null null',
      '0810 000301 00 null null',
      ...authorized,
      '0110 000021 51 000000002100 null',
      '0410 000022 00 000000000700 null',
      '0410 000022 00 000000000700 null',
      '0210 000023 00 000000000300 000003',
      '0210 000024 00 000000000499 000005',
      '0210 000024 00 000000000499 000005',
      '0210 000025 13 000000000401 000004',
      '0410 000026 00 000000000300 null',
      '0210 000027 00 000000002700 000021',
      '0810 000002 00 null null',
    ])
    const book = simulators.get(profile)?.book() ?? []
    expect(book).toHaveLength(22)
    const changed = book.filter((one) => one.reversals > 0 || one.capturedAmount > 0)
    expect(
      changed.map((one) => [one.stan, one.capturedAmount, one.reversedAmount, one.reversals]),
    ).toEqual([
      [stanOf(3), 0, 0, 1],
      [stanOf(5), 499, 0, 0],
      [stanOf(7), 0, 700, 2],
      [stanOf(27), 2_700, 0, 0],
    ])
  })
})
