import { describe, expect, spyOn, test } from 'bun:test'
import { type Dialect, dialects, type FramingName, framings } from '#codecs/iso8583'
import { createNetwork, type LateAnswer } from '../../../src/cards/networks/index.ts'
import { Liveness } from '../../../src/cards/networks/liveness.ts'
import { passedOverMs, unansweredMax } from '../../../src/cards/networks/options.ts'
import {
  createNetworkRig,
  networkOptions,
  payment,
  stanOf,
  until,
} from '../../support/card-network.ts'
import { freePort } from '../../support/free-port.ts'
import { approvalOf, createRawPeer, frameOf, type RawConnection } from '../../support/raw-peer.ts'

describe('an exchange', () => {
  test('is answered, in every dialect of 1987 and framing', async () => {
    const named: readonly (readonly [Dialect, FramingName])[] = [
      ...Object.values(dialects)
        .filter(({ version }) => version === '1987')
        .map((dialect) => [dialect, 'binary-2'] as const),
      ...Object.keys(framings).map(
        (framing) => [dialects['ascii']!, framing as FramingName] as const,
      ),
    ]
    for (const [dialect, framing] of named) {
      await using rig = await createNetworkRig({
        dialect,
        framing: framings[framing],
        signOn: true,
      })
      const outcome = await rig.network.exchange(payment(1), 20_000)
      expect([dialect.name, framing, outcome.kind]).toEqual([dialect.name, framing, 'answered'])
      if (outcome.kind !== 'answered') continue
      expect(outcome.response.mti).toBe('0110')
      expect(outcome.response.responseCode).toBe('00')
      expect(outcome.response.authCode).toMatch(/^\d{6}$/)
    }
  })

  test('is one of ten thousand whose answers overtake each other', async () => {
    await using rig = await createNetworkRig(
      { poolSize: 5, window: 2_000 },
      { latencyMs: { min: 1, max: 60 }, seed: 7 },
    )
    const outcomes = await Promise.all(
      Array.from({ length: 10_000 }, async (_, index) => {
        const amount = String(index + 1).padStart(12, '0')
        const outcome = await rig.network.exchange(payment(index + 1, { amount }), 60_000)
        return outcome.kind === 'answered' && outcome.response.amount === amount
      }),
    )
    expect(outcomes.filter((isRight) => isRight).length).toBe(10_000)
    expect(rig.network.health().inFlight).toBe(0)
    const book = rig.simulator.book()
    expect(book.length).toBe(10_000)
    expect(book.every(({ requests }) => requests === 1)).toBe(true)
  })

  test('leaves the caller free to wipe the request at once', async () => {
    await using rig = await createNetworkRig()
    const request = payment(5)
    const answered = rig.network.exchange(request, 20_000)
    request.wipe()
    const outcome = await answered
    expect(outcome.kind === 'answered' && outcome.response.responseCode).toBe('00')
  })

  test('times out when no answer comes, and frees its place', async () => {
    await using rig = await createNetworkRig()
    const started = performance.now()
    const waiting = rig.network.exchange(payment(1, { token: 'tok_visa_timeout' }), 100)
    expect(rig.network.isPending(stanOf(1))).toBe(true)
    expect(rig.network.isPending(stanOf(2))).toBe(false)
    expect(await waiting).toEqual({ kind: 'timed_out' })
    expect(performance.now() - started).toBeGreaterThanOrEqual(100)
    expect(rig.network.isPending(stanOf(1))).toBe(false)
    expect(rig.simulator.book()[0]?.authorizedAmount).toBe(10_000)
  })

  test('is refused without a connection', async () => {
    const network = createNetwork(networkOptions(1))
    expect(await network.exchange(payment(1), 100)).toEqual({
      kind: 'not_sent',
      reason: 'no_connection',
    })
  })

  test('is refused by a pool that stops, which does not say that the network is away', async () => {
    await using rig = await createNetworkRig()
    await rig.network.stop()
    expect(await rig.network.exchange(payment(1), 100)).toEqual({
      kind: 'not_sent',
      reason: 'stopping',
    })
  })

  test('is refused when every window is full, and not one before', async () => {
    await using rig = await createNetworkRig({ poolSize: 2, window: 3 })
    const token = 'tok_visa_timeout'
    const waiting = Array.from({ length: 6 }, (_, index) =>
      rig.network.exchange(payment(index + 1, { token }), 1_000),
    )
    expect(await rig.network.exchange(payment(7), 1_000)).toEqual({
      kind: 'not_sent',
      reason: 'window_full',
    })
    for (const outcome of await Promise.all(waiting)) expect(outcome.kind).toBe('timed_out')
    expect((await rig.network.exchange(payment(8), 20_000)).kind).toBe('answered')
  })

  test('never replaces one with the same key; a reversal with the same STAN is another', async () => {
    await using rig = await createNetworkRig({}, { latencyMs: { min: 20, max: 30 } })
    const first = rig.network.exchange(payment(1), 20_000)
    expect(await rig.network.exchange(payment(1), 20_000)).toEqual({
      kind: 'not_sent',
      reason: 'duplicate_key',
    })
    const reversal = rig.network.exchange(payment(1, {}, '0400'), 20_000)
    expect(await rig.network.exchange(payment(1, {}, '0401'), 20_000)).toEqual({
      kind: 'not_sent',
      reason: 'duplicate_key',
    })
    expect((await first).kind).toBe('answered')
    const outcome = await reversal
    expect(outcome.kind === 'answered' && outcome.response.mti).toBe('0410')
  })

  test('is refused by an error when its message cannot be written', async () => {
    await using rig = await createNetworkRig()
    expect(rig.network.exchange(payment(1, { amount: 'much' }), 100)).rejects.toThrow()
    expect(rig.network.exchange(payment(1, { stan: '12345' }), 100)).rejects.toThrow('STAN')
    expect((await rig.network.exchange(payment(2), 20_000)).kind).toBe('answered')
  })
})

describe('a network is away', () => {
  test('once every connection has failed to come up, and not before', async () => {
    const network = createNetwork(networkOptions(freePort(), { poolSize: 2 }))
    expect(network.isAway()).toBe(false)
    network.start()
    await until(() => network.isAway())
    await network.stop()
  })

  test('once none that was lost has come back, and not while the first is signed on', async () => {
    const asked: (() => void)[] = []
    using peer = createRawPeer(({ send }, message) => {
      asked.push(() => send(frameOf(approvalOf(message))))
    })
    const network = createNetwork(networkOptions(peer.port, { signOn: true, drainMs: 10 }))
    network.start()
    await until(() => asked.length === 1)
    expect(await network.exchange(payment(1), 100)).toMatchObject({ reason: 'no_connection' })
    expect(network.isAway()).toBe(false)
    asked[0]?.()
    await until(() => network.health().connectionsUp === 1)
    expect(network.isAway()).toBe(false)
    // All are lost at once, and come back: the network is there.
    peer.connections[0]?.socket.end()
    await until(() => network.health().connectionsUp === 0)
    expect(network.isAway()).toBe(false)
    await until(() => asked.length === 2)
    expect(network.isAway()).toBe(false)
    asked[1]?.()
    await until(() => network.health().connectionsUp === 1)
    expect(network.isAway()).toBe(false)
    // Lost again, and the sign-on after it is ended.
    peer.connections[1]?.socket.end()
    await until(() => asked.length === 3)
    expect(network.isAway()).toBe(false)
    peer.connections[2]?.socket.end()
    await until(() => network.isAway())
    await network.stop()
  })
})

describe('of connections that carry equally much', () => {
  /** A pool whose first connection answers nothing while it is to be dead. */
  const halfDead = async (poolSize: number) => {
    const state = { isDead: true, first: undefined as RawConnection | undefined }
    const counts = new Map<RawConnection, number>()
    const peer = createRawPeer((connection, message) => {
      state.first ??= connection
      counts.set(connection, (counts.get(connection) ?? 0) + 1)
      if (connection !== state.first || !state.isDead) connection.send(frameOf(approvalOf(message)))
    })
    const network = createNetwork(networkOptions(peer.port, { poolSize, drainMs: 10 }))
    network.start()
    await until(() => network.health().connectionsUp === poolSize)
    return {
      state,
      counts,
      network,
      [Symbol.asyncDispose]: async () => {
        await network.stop()
        peer[Symbol.dispose]()
      },
    }
  }

  test('each has its turn', async () => {
    await using rig = await halfDead(4)
    rig.state.isDead = false
    for (let number = 1; number <= 40; number++) await rig.network.exchange(payment(number), 20_000)
    expect([...rig.counts.values()]).toEqual([10, 10, 10, 10])
  })

  test('one without an answer to three in a row is passed over, and then tried by one', async () => {
    await using rig = await halfDead(2)
    const swallowed = () => rig.counts.get(rig.state.first!)
    for (let number = 1; number <= 12; number++) await rig.network.exchange(payment(number), 200)
    expect(swallowed()).toBe(unansweredMax)
  })

  test('one that was passed over for long enough is tried by one request at a time', () => {
    const nothing = () => undefined
    const ask = async () => ({ kind: 'timed_out' }) as const
    const asking = { ask, onEcho: nothing, onGone: nothing }
    const liveness = new Liveness(networkOptions(1, { echoMs: 0 }), asking)
    for (let number = 0; number < unansweredMax; number++) {
      expect(liveness.isPassedOver(1)).toBe(false)
      liveness.onUnanswered()
    }
    expect(liveness.isPassedOver(0)).toBe(true)
    const later = performance.now() + passedOverMs
    using _ = spyOn(performance, 'now').mockImplementation(() => later)
    expect([liveness.isPassedOver(0), liveness.isPassedOver(1)]).toEqual([false, true])
    liveness.onUnanswered()
    expect(liveness.isPassedOver(0)).toBe(true)
    liveness.answered()
    expect(liveness.isPassedOver(1)).toBe(false)
  })

  test('one that is passed over takes what no other has room for', async () => {
    await using rig = await halfDead(1)
    for (let number = 1; number <= 3; number++) await rig.network.exchange(payment(number), 20)
    rig.state.isDead = false
    expect((await rig.network.exchange(payment(4), 20_000)).kind).toBe('answered')
  })
})

describe('an answer', () => {
  test('that comes late resolves nothing and is handed over', async () => {
    const late: LateAnswer[] = []
    await using rig = await createNetworkRig({
      onLateAnswer: (answer) => late.push(answer),
    })
    const outcome = await rig.network.exchange(payment(9, { token: 'tok_visa_late' }), 30)
    expect(outcome).toEqual({ kind: 'timed_out' })
    await until(() => late.length === 1, 'the late answer')
    expect(late[0]?.network).toBe('neta')
    expect(late[0]?.response.stan).toBe(stanOf(9))
    expect(late[0]?.response.responseCode).toBe('00')
    // The simulated network repeats the card number; nobody needs it, so that nobody has to clear it.
    expect(late[0]?.response.pan).toBeUndefined()
  })

  test('that comes twice answers once', async () => {
    const late: LateAnswer[] = []
    await using rig = await createNetworkRig({ onLateAnswer: (answer) => late.push(answer) })
    const outcome = await rig.network.exchange(payment(9, { token: 'tok_visa_duplicate' }), 20_000)
    expect(outcome.kind).toBe('answered')
    await until(() => late.length === 1, 'the second answer')
  })

  test('with another RRN or terminal is no answer', async () => {
    const late: LateAnswer[] = []
    await using rig = await createNetworkRig({ onLateAnswer: (answer) => late.push(answer) })
    for (const [index, token] of ['tok_visa_wrong_rrn', 'tok_visa_wrong_terminal'].entries()) {
      const outcome = await rig.network.exchange(payment(index + 1, { token }), 60)
      expect(outcome.kind).toBe('timed_out')
    }
    // That of another RRN may be another request's, under the same number.
    expect(late.map(({ response }) => response.stan)).toEqual(['000001'])
  })
})
