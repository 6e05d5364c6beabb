import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CardMessage, parseOriginalData } from '#codecs/iso8583'
import { authorizationBody, cardsRigOfFile, createCardsRig } from '../support/cards-rig.ts'
import {
  createScriptedNetwork,
  type Peer,
  type ScriptedNetwork,
  type Seen,
} from '../support/scripted-network.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/*
 * Whatever a network approved is told as authorized or captured, or is taken back: the book of a network that answers
 * late, twice or against itself is empty in the end, except for what callers were told.
 */

const timeoutMs = 250
const windowMs = 700

const network = createScriptedNetwork()
const rig = await cardsRigOfFile({ timeoutMs, windowMs, poolSize: 3, networkA: network })

const approves = { responseCode: '00', authCode: 'A00001' } as const

type Json = Readonly<Record<string, unknown>>

const authorize = async (change: Json = {}) => {
  const body = authorizationBody('tok_visa_approved', change)
  const response = await rig.post('/v1/transactions/authorize', body)
  return { status: response.status, record: (await response.json()) as Json }
}
const idOf = (record: Json): string => {
  const error = record['error'] as { details?: { transaction_id?: string } } | undefined
  return String(record['id'] ?? error?.details?.transaction_id)
}
const rrnOf = async (id: string): Promise<unknown> => (await read(id))['rrn']
const read = async (id: string) => (await (await rig.get(`/v1/transactions/${id}`)).json()) as Json
const seenOf = async (id: string): Promise<readonly Seen[]> => {
  const rrn = await rrnOf(id)
  return network.seen.filter((one) => one.rrn === rrn)
}
const mtisOf = async (id: string) => (await seenOf(id)).map(({ mti }) => mti)
const until = async (what: () => Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + 40_000
  while (!(await what())) {
    if (performance.now() > deadline) throw new Error('did not come true in time')
    await Bun.sleep(5)
  }
}

/** Holds the money of whatever it approves until a reversal names it. */
const holding = () => {
  const held = new Map<string, number>()
  return {
    held,
    hold: ({ stan = '', amount = '0' }: CardMessage) => held.set(stan, Number(amount)),
    release: ({ originalData = '' }: CardMessage): boolean =>
      held.delete(parseOriginalData(originalData).stan),
  }
}

const isReversal = ({ mti }: CardMessage): boolean => mti === '0400' || mti === '0401'

describe('an approval of an authorization', () => {
  test('that comes after its reversal found nothing is taken back', async () => {
    const { held, release } = holding()
    let late: (() => void) | undefined
    network.on((request, peer) => {
      if (!isReversal(request)) {
        late = lateApproval(request, peer, held)
        return
      }
      peer.answer({ responseCode: release(request) ? '00' : '25' })
      // The request arrives at the issuer only now.
      late?.()
      late = undefined
    })
    const { status, record } = await authorize()
    expect(status).toBe(504)
    const id = idOf(record)
    expect(await rig.settled(id)).toMatchObject({ status: 'voided' })
    expect([...held]).toEqual([])
    const mtis = await mtisOf(id)
    expect(mtis.slice(0, 3)).toEqual(['0100', '0400', '0401'])
  })

  test('that comes when all is over is taken back too', async () => {
    const { held, release } = holding()
    let send = (): void => undefined
    network.on((request, peer) => {
      if (isReversal(request)) peer.answer({ responseCode: release(request) ? '00' : '25' })
      else send = lateApproval(request, peer, held)
    })
    const id = idOf((await authorize()).record)
    await rig.settled(id)
    const before = (await seenOf(id)).length
    send()
    await until(async () => (await seenOf(id)).length > before && held.size === 0)
    expect(await rig.settled(id)).toMatchObject({ status: 'voided' })
    expect(new Set((await seenOf(id)).slice(1).map(({ stan }) => stan)).size).toBe(1)
  })

  test('that follows a decline under the same STAN is taken back', async () => {
    const { held, release } = holding()
    network.on((request, peer) => {
      if (isReversal(request)) peer.answer({ responseCode: release(request) ? '00' : '25' })
      else {
        const send = lateApproval(request, peer, held)
        peer.answer({ responseCode: '05' })
        send()
      }
    })
    const { status, record } = await authorize()
    expect([status, record['status'], record['response_code']]).toEqual([201, 'declined', '05'])
    await until(async () => (await mtisOf(idOf(record))).includes('0400') && held.size === 0)
    expect(await rig.settled(idOf(record))).toMatchObject({ status: 'declined' })
  })

  test('that follows a decline is taken back by whichever process hears it', async () => {
    const { held, hold, release } = holding()
    let hearer: Peer | undefined
    let declined: CardMessage | undefined
    network.on((request, peer) => {
      if (isReversal(request)) peer.answer({ responseCode: release(request) ? '00' : '25' })
      else if (hearer === undefined) {
        hearer = peer
        peer.answer(approves)
      } else {
        hold(request)
        declined = request
        peer.answer({ responseCode: '05' })
      }
    })
    await authorize()
    const beside = { port: network.port, stop: () => undefined }
    const sender = await createCardsRig({
      timeoutMs,
      windowMs,
      networkA: beside,
      database: rig.database,
    })
    const { id } = await sender.authorize('tok_visa_approved')
    await sender[Symbol.asyncDispose]()
    expect(await read(id)).toMatchObject({ status: 'declined', response_code: '05' })
    const { stan, rrn, transmissionDateTime } = declined!
    hearer?.answer({ ...approves, stan, rrn, transmissionDateTime })
    await until(async () => held.size === 0)
    expect(await rig.settled(id)).toMatchObject({ status: 'declined' })
  })

  test('that nobody is there to hear is taken back where declines are said not to be certain', async () => {
    const { held, hold, release } = holding()
    let isGone = false
    network.on((request, peer) => {
      if (!isReversal(request)) {
        // It holds the money all the same, and says so to a process that is gone.
        hold(request)
        peer.answer({ responseCode: '05' })
      } else if (isGone) peer.answer({ responseCode: release(request) ? '00' : '25' })
    })
    const file = join(temporaryDirectory(), 'messages.json')
    writeFileSync(file, JSON.stringify({ answers: { declined: [] } }))
    const sender = await createCardsRig({
      timeoutMs,
      windowMs,
      database: rig.database,
      networkA: { port: network.port, stop: () => undefined },
      environment: { CARDGW_NETA_MESSAGES_FILE: file },
    })
    const { id, status } = await sender.authorize('tok_visa_approved')
    await sender[Symbol.asyncDispose]()
    expect([status, held.size]).toEqual(['declined', 1])
    isGone = true
    await until(async () => held.size === 0)
    expect(await rig.settled(id)).toMatchObject({ status: 'declined' })
  })

  test('that comes late without DE 37 is found by its STAN and DE 7, and by no other', async () => {
    const { held, hold, release } = holding()
    let late: ((change: Partial<CardMessage>) => void) | undefined
    network.on((request, peer) => {
      if (isReversal(request)) peer.answer({ responseCode: release(request) ? '00' : '25' })
      else {
        hold(request)
        peer.answer({ responseCode: '05' })
        late = (change) => peer.answer({ ...approves, rrn: undefined, ...change })
      }
    })
    const { record } = await authorize()
    late?.({ transmissionDateTime: '0101000000' })
    late?.({ stan: '987654' })
    await Bun.sleep(200)
    expect([await mtisOf(idOf(record)), held.size]).toEqual([['0100'], 1])
    late?.({})
    await until(async () => held.size === 0)
    expect(await rig.settled(idOf(record))).toMatchObject({ status: 'declined' })
  })

  test('that comes twice is taken once', async () => {
    network.on((_, peer) => {
      peer.answer(approves)
      peer.answer(approves)
    })
    const { record } = await authorize()
    await Bun.sleep(100)
    expect(await read(idOf(record))).toMatchObject({ status: 'authorized' })
    expect(await mtisOf(idOf(record))).toEqual(['0100'])
  })

  test.each(['08', '09', '10', '11', '16', '32', '68', '85', '90', '91', '96', 'XX'])(
    'with code %s is declined to the caller, and taken back',
    async (responseCode) => {
      const { held, hold, release } = holding()
      network.on((request, peer) => {
        if (isReversal(request)) peer.answer({ responseCode: release(request) ? '00' : '25' })
        else {
          hold(request)
          peer.answer({ responseCode, authCode: 'A00001' })
        }
      })
      const { status, record } = await authorize()
      expect([status, record['status'], record['auth_code']]).toEqual([201, 'declined', ''])
      expect(await rig.settled(idOf(record))).toMatchObject({
        status: 'declined',
        response_code: responseCode,
      })
      expect(held.size).toBe(0)
    },
  )

  test('of another card is not believed', async () => {
    const { held, hold, release } = holding()
    network.on((request, peer) => {
      if (isReversal(request)) peer.answer({ responseCode: release(request) ? '00' : '25' })
      else {
        hold(request)
        const pan = request.pan?.slice()
        pan?.reverse()
        if (pan !== undefined) peer.answer({ ...approves, pan })
      }
    })
    const { status, record } = await authorize()
    expect(status).toBe(504)
    expect(await rig.settled(idOf(record))).toMatchObject({ status: 'voided' })
    expect(held.size).toBe(0)
  })
})

const lateApproval = (
  { stan = '', rrn, amount, terminalId, currency, transmissionDateTime }: CardMessage,
  peer: Peer,
  held: Map<string, number>,
): (() => void) => {
  const kept = { stan, rrn, amount, terminalId, currency, transmissionDateTime }
  return () => {
    held.set(stan, Number(amount))
    peer.answer({ ...approves, ...kept, mti: '0110' })
  }
}

const encoder = new TextEncoder()

describe('a frame that cannot be read', () => {
  /** An answer whose DE 39 holds what no code may. */
  const broken = ({ stan }: CardMessage): Uint8Array =>
    // MTI, bitmap of DE 11 and DE 39.
    Buffer.concat([
      encoder.encode('0110'),
      Uint8Array.of(0, 0x20, 0, 0, 2, 0, 0, 0),
      encoder.encode(`${stan}\u0001\u0001`),
    ])

  test('concerns the exchange that it answers, and no other on the connection', async () => {
    const { held, hold, release } = holding()
    const waiting: (() => void)[] = []
    let isFirst = true
    network.on((request, peer) => {
      if (isReversal(request)) peer.answer({ responseCode: release(request) ? '00' : '25' })
      else if (isFirst) {
        isFirst = false
        hold(request)
        peer.frame(broken(request))
        for (const answer of waiting) answer()
      } else peer.answer(approves)
    })
    const up = () => rig.networks.byName('neta')?.health().connectionsUp
    expect(up()).toBe(3)
    const [bad, ...good] = await Promise.all([authorize(), authorize(), authorize(), authorize()])
    const all = [bad, ...good].map((one) => one?.status).sort()
    expect(all).toEqual([201, 201, 201, 502])
    expect(up()).toBe(3)
    const failed = [bad, ...good].find((one) => one?.status === 502)?.record ?? {}
    expect(failed).toMatchObject({
      error: { details: { sent: true, reason: 'answer_unreadable' } },
    })
    expect(await rig.settled(idOf(failed))).toMatchObject({ status: 'voided' })
    expect(held.size).toBe(0)
  })

  test('ends the connection only as the fifth in a row', async () => {
    await using own = await createCardsRig({ timeoutMs, poolSize: 1, networkA: scripted() })
    const lost = () => own.networks.byName('neta')?.health().connectionsUp === 0
    const garbage = encoder.encode('no message')
    let frames = 4
    ownNetwork.on((_, peer) => {
      for (let at = 0; at < frames; at++) peer.frame(garbage)
      peer.answer(approves)
    })
    const post = () =>
      own.post('/v1/transactions/authorize', authorizationBody('tok_visa_approved'))
    // What can be read in between begins the count anew.
    expect([(await post()).status, (await post()).status, lost()]).toEqual([201, 201, false])
    frames = 5
    expect((await post()).status).toBe(502)
  })

  test('is none for the characters of a field that nobody uses', async () => {
    network.on((_, peer) => peer.answer({ ...approves, merchantName: 'Caf\u00e9'.padEnd(40) }))
    expect((await authorize()).status).toBe(201)
    network.on(({ stan, amount }, peer) =>
      peer.frame(
        // DE 4, 11, 12, 38 and 39; a time of letters.
        Buffer.concat([
          encoder.encode('0110'),
          Uint8Array.of(0x10, 0x30, 0, 0, 6, 0, 0, 0),
          encoder.encode(`${amount}${stan}??:??:A0000100`),
        ]),
      ),
    )
    const { status, record } = await authorize()
    expect([status, record['auth_code']]).toEqual([201, 'A00001'])
  })

  test('nor for what no database stores', async () => {
    network.on(({ stan, amount }, peer) =>
      peer.frame(
        // DE 4, 11, 15, 38, 39 and 54.
        Buffer.concat([
          encoder.encode('0110'),
          Uint8Array.of(0x10, 0x22, 0, 0, 6, 0, 4, 0),
          encoder.encode(`${amount}${stan}12\0\0A0000100005TEXT\0`),
        ]),
      ),
    )
    const { status, record } = await authorize()
    expect([status, record['auth_code']]).toEqual([201, 'A00001'])
    const response = await rig.get(`/v1/transactions/${idOf(record)}/events`)
    expect(response.status).toBe(200)
    expect(JSON.stringify(await response.json())).toContain('TEXT\ufffd')
    // As it was stored before.
    await rig.database.sql`
      update card_events set exchange = replace(exchange, chr(65533), '\\u0000')
      where transaction_id = ${idOf(record)}`
    expect((await rig.get(`/v1/transactions/${idOf(record)}/events`)).status).toBe(200)
  })
})

let ownNetwork: ScriptedNetwork
const scripted = (): ScriptedNetwork => {
  ownNetwork = createScriptedNetwork()
  return ownNetwork
}

test('after the sign-off of the network nothing is sent until its sign-on', async () => {
  network.on((_, peer) => peer.answer(approves))
  const up = (count: number) =>
    until(async () => rig.networks.byName('neta')?.health().connectionsUp === count)
  network.ask('002')
  await up(0)
  const before = network.seen.length
  const { status, record } = await authorize()
  expect([status, record['error']]).toMatchObject([502, { details: { sent: false } }])
  expect(network.seen).toHaveLength(before)
  network.ask('001')
  await up(3)
  expect((await authorize()).status).toBe(201)
})

test('a request that finds no connection waits a moment for one', async () => {
  network.on((_, peer) => peer.answer(approves))
  const up = () => rig.networks.byName('neta')?.health().connectionsUp
  network.ask('062')
  await until(async () => up() === 0)
  const [{ status }] = await Promise.all([
    authorize(),
    Bun.sleep(50).then(() => network.ask('061')),
  ])
  expect(status).toBe(201)
})

test('installments go out, and only when there are several', async () => {
  network.on((_, peer) => peer.answer(approves))
  const sent: unknown[] = []
  for (const installments of [undefined, 1, 2, 12]) {
    const { record } = await authorize(installments === undefined ? {} : { installments })
    sent.push((await seenOf(idOf(record)))[0]?.extendedPayment)
  }
  expect(sent).toEqual([undefined, undefined, '02', '12'])
})

test('a void with a body that says something else is refused, and moves nothing', async () => {
  network.on((_, peer) => peer.answer(approves))
  const id = idOf((await authorize()).record)
  for (const body of [{ amount: 0 }, { amount: '100' }, { cents: 100 }, []]) {
    expect((await rig.post(`/v1/transactions/${id}/void`, body)).status).toBe(400)
  }
  expect(await mtisOf(id)).toEqual(['0100'])
  expect((await rig.post(`/v1/transactions/${id}/void`, {})).status).toBe(200)
})

test('a card number is refused as key and within a token, and kept nowhere', async () => {
  network.on((_, peer) => peer.answer(approves))
  const path = '/v1/transactions/authorize'
  const number = '4000000000000002'
  const body = authorizationBody('tok_visa_approved')
  for (const key of [number, `order-${number}`, '4000 0000 0000 0002', '4000-0000-0000-0002']) {
    const response = await rig.post(path, body, { 'Idempotency-Key': key })
    expect([response.status, (await response.text()).includes('0002')]).toEqual([400, false])
  }
  for (const token of [`tok_${number}`, `${number}x`, '99-4000-0000-0000-0002']) {
    const response = await rig.post(path, authorizationBody(token))
    expect(await response.json()).toMatchObject({ error: { code: 'INVALID_CARD_TOKEN' } })
  }
  const traced = await rig.post(path, body, { 'X-Request-Id': `r.${number}` })
  expect(traced.headers.get('x-request-id')).not.toContain(number)
  const [found] = await rig.database.sql`
    select (select count(*) from card_transactions t where t::text ~ ${number})
      + (select count(*) from card_events t where t::text ~ ${number})
      + (select count(*) from idempotency_keys t where t::text ~ ${number})
      + (select count(*) from audit_log t where t::text ~ ${number}) as n`
  expect(found).toEqual({ n: 0n } as never)
})

describe('an approval of a capture', () => {
  const authorized = async (): Promise<string> => {
    network.on((_, peer) => peer.answer(approves))
    return idOf((await authorize()).record)
  }

  test('of a part blocks the next until it is taken back', async () => {
    const id = await authorized()
    const { held, hold, release } = holding()
    let isHeldBack = true
    network.on((request, peer) => {
      if (!isReversal(request)) {
        hold(request)
        peer.answer({ responseCode: '10' })
      } else if (!isHeldBack) peer.answer({ responseCode: release(request) ? '00' : '25' })
    })
    const first = await rig.post(`/v1/transactions/${id}/capture`)
    await first.body?.cancel()
    expect((await rig.post(`/v1/transactions/${id}/capture`)).status).toBe(409)
    isHeldBack = false
    expect(await rig.settled(id)).toMatchObject({
      status: 'authorized',
      capture_error: 'declined_10',
    })
    expect(held.size).toBe(0)
  })

  test('that follows its decline is taken back', async () => {
    const id = await authorized()
    const { held, release } = holding()
    network.on((request, peer) => {
      if (isReversal(request)) peer.answer({ responseCode: release(request) ? '00' : '25' })
      else {
        const send = lateApproval(request, { ...peer, answer: capturing(peer) }, held)
        peer.answer({ responseCode: '05' })
        send()
      }
    })
    await (await rig.post(`/v1/transactions/${id}/capture`)).body?.cancel()
    await until(async () => (await mtisOf(id)).includes('0400') && held.size === 0)
    expect(await rig.settled(id)).toMatchObject({ status: 'authorized' })
  })

  test.each([
    ['68', 'capture', { amount: 4_000 }],
    ['90', 'capture', { amount: 4_000, final: false }],
    ['91', 'increment', { amount: 4_000 }],
    ['96', 'refund', { amount: 2_000 }],
  ])('that code %s hides is taken back without hearing more: %s', async (code, path, body) => {
    network.on((_, peer) => peer.answer(approves))
    const id = idOf((await authorize({ capture: path === 'refund' })).record)
    const before = await read(id)
    const { held, hold, release } = holding()
    network.on((request, peer) => {
      if (isReversal(request)) peer.answer({ responseCode: release(request) ? '00' : '25' })
      else {
        hold(request)
        peer.answer({ responseCode: code })
      }
    })
    const response = await rig.post(`/v1/transactions/${id}/${path}`, body)
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { error: { details: { response_code: code } } },
    ])
    expect(await rig.settled(id)).toMatchObject({
      status: before['status'],
      amount: before['amount'],
      [`${path}_error`]: `declined_${code}`,
    })
    expect(held.size).toBe(0)
  })

  const capturing =
    ({ answer }: Peer): Peer['answer'] =>
    (change) =>
      answer({ ...change, mti: '0210' })
})

describe('a void', () => {
  test('without an answer is sent again as a repeat of itself', async () => {
    network.on((_, peer) => peer.answer(approves))
    const id = idOf((await authorize()).record)
    let count = 0
    network.on((_, peer) => {
      if (++count > 1) peer.answer({ responseCode: '00' })
    })
    expect((await rig.post(`/v1/transactions/${id}/void`)).status).toBe(504)
    expect(await rig.settled(id)).toMatchObject({ status: 'voided' })
    const [, first, second] = await seenOf(id)
    expect([first?.mti, second?.mti]).toEqual(['0400', '0401'])
    expect(second?.stan).toBe(first?.stan as string)
    expect(second?.transmissionDateTime).toBe(first?.transmissionDateTime as string)
    expect(second?.originalData).toBe(first?.originalData as string)
  })

  test('of a captured payment names the capture, then the authorization', async () => {
    network.on((_, peer) => peer.answer(approves))
    const id = idOf((await authorize()).record)
    const captured = await rig.post(`/v1/transactions/${id}/capture`, { amount: 2_500 })
    await captured.body?.cancel()
    const response = await rig.post(`/v1/transactions/${id}/void`)
    expect([response.status, ((await response.json()) as Json)['status']]).toEqual([200, 'voided'])
    await rig.settled(id)
    const [authorization, capture, ...reversals] = await seenOf(id)
    expect(reversals.map(({ mti, amount }) => [mti, amount])).toEqual([
      ['0400', '000000002500'],
      ['0400', '000000010000'],
    ])
    const originals = reversals.map(({ originalData }) => parseOriginalData(originalData ?? ''))
    expect(originals.map(({ mti, stan }) => [mti, stan])).toEqual([
      ['0200', capture?.stan as string],
      ['0100', authorization?.stan as string],
    ])
  })
})

test('a reversal goes over the connection of its original', async () => {
  network.on((request, peer) => {
    if (isReversal(request)) peer.answer({ responseCode: '00' })
  })
  const answers = await Promise.all(Array.from({ length: 6 }, () => authorize()))
  for (const { record } of answers) {
    const id = idOf(record)
    await rig.settled(id)
    const [original, reversal] = await seenOf(id)
    expect(reversal?.lane).toBe(original?.lane as number)
  }
})
