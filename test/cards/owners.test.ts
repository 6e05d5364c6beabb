import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type CardMessage, parseOriginalData } from '#codecs/iso8583'
import { authorizationBody, type CardsRig, createCardsRig } from '../support/cards-rig.ts'
import {
  createScriptedNetwork,
  type Peer,
  type ScriptedNetwork,
  type Seen,
} from '../support/scripted-network.ts'

/*
 * Whatever a network approved is told as authorized or captured, or is taken back: the book of a network that answers
 * late, twice or against itself is empty in the end, except for what callers were told.
 */

const timeoutMs = 250
const windowMs = 700

let network: ScriptedNetwork
let rig: CardsRig
beforeAll(async () => {
  network = createScriptedNetwork()
  rig = await createCardsRig({ timeoutMs, windowMs, poolSize: 3, networkA: network })
})
afterAll(() => rig[Symbol.asyncDispose]())

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
  const deadline = performance.now() + 20_000
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
        peer.answer({ responseCode: '91' })
        send()
      }
    })
    const { status, record } = await authorize()
    expect([status, record['status'], record['response_code']]).toEqual([201, 'declined', '91'])
    await until(async () => (await mtisOf(idOf(record))).includes('0400') && held.size === 0)
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

  test.each(['08', '09', '10', '11', '16', '32', '85', 'XX'])(
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
        peer.answer({ responseCode: '91' })
        send()
      }
    })
    await (await rig.post(`/v1/transactions/${id}/capture`)).body?.cancel()
    await until(async () => (await mtisOf(id)).includes('0400') && held.size === 0)
    expect(await rig.settled(id)).toMatchObject({ status: 'authorized' })
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
