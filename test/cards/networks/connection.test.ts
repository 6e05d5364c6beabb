import { describe, expect, spyOn, test } from 'bun:test'
import { type CardMessage, framings } from '#codecs/iso8583'
import {
  createNetwork,
  type Network,
  type NetworkOptions,
} from '../../../src/cards/networks/index.ts'
import type { NetworkMetrics } from '../../../src/cards/networks/metrics.ts'
import { checkedFields, unreadableMax } from '../../../src/cards/networks/options.ts'
import {
  reconciliationForm,
  reconciliationRulesOf,
} from '../../../src/cards/networks/reconciliation-form.ts'
import { networkOptions, payment, stanOf, until } from '../../support/card-network.ts'
import {
  approvalOf,
  createRawPeer,
  frameOf,
  looseFrameOf,
  management,
  type RawConnection,
} from '../../support/raw-peer.ts'

/** A network that is connected to `port`, stopped at the end of the scope. */
const connect = async (
  port: number,
  change: Partial<NetworkOptions> = {},
): Promise<{ readonly network: Network } & AsyncDisposable> => {
  const network = createNetwork(networkOptions(port, { drainMs: 50, ...change }))
  network.start()
  await until(() => network.health().connectionsUp === network.health().connectionsMax)
  return { network, [Symbol.asyncDispose]: () => network.stop() }
}

const approve = ({ send }: RawConnection, message: CardMessage): void => {
  send(frameOf(approvalOf(message)))
}
const ignore = (): void => undefined

/** Metrics of one network that a test can read. */
const counting = () => {
  const counts = {
    timeouts: 0,
    lateAnswers: 0,
    mismatches: 0,
    reconnects: 0,
    unexpected: 0,
    wrongCodes: 0,
    unverified: 0,
  }
  const count = (name: keyof typeof counts) => ({ inc: () => void counts[name]++ })
  const metrics: NetworkMetrics = {
    of: () => ({
      timeouts: count('timeouts'),
      lateAnswers: count('lateAnswers'),
      mismatches: count('mismatches'),
      reconnects: count('reconnects'),
      unexpected: count('unexpected'),
      wrongCodes: count('wrongCodes'),
      unverified: count('unverified'),
    }),
  }
  return { counts, metrics }
}

describe('bytes', () => {
  test('of an answer may come cut at any place', async () => {
    const split = { at: 0 }
    using peer = createRawPeer(async ({ socket }, message) => {
      const frame = frameOf(approvalOf(message))
      socket.write(frame.slice(0, split.at))
      socket.flush()
      await Bun.sleep(1)
      socket.write(frame.slice(split.at))
    })
    await using rig = await connect(peer.port)
    const { length } = frameOf(approvalOf(payment(1)))
    for (split.at = 1; split.at < length; split.at++) {
      const outcome = await rig.network.exchange(payment(split.at), 20_000)
      expect([split.at, outcome.kind]).toEqual([split.at, 'answered'])
    }
  })

  test('of an answer may come one by one, and of many in one piece', async () => {
    const requests: CardMessage[] = []
    using peer = createRawPeer(async ({ socket }, message) => {
      requests.push(message)
      if (requests.length === 1) {
        for (const byte of frameOf(approvalOf(message))) {
          socket.write(Uint8Array.of(byte))
          socket.flush()
          await Bun.sleep(0)
        }
      } else if (requests.length === 101) {
        const frames = requests
          .slice(1)
          .reverse()
          .map((one) => frameOf(approvalOf(one)))
        socket.write(Buffer.concat(frames))
      }
    })
    await using rig = await connect(peer.port)
    expect((await rig.network.exchange(payment(1), 20_000)).kind).toBe('answered')
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) => rig.network.exchange(payment(index + 2), 20_000)),
    )
    for (const [index, outcome] of outcomes.entries()) {
      expect(outcome.kind === 'answered' && outcome.response.stan).toBe(stanOf(index + 2))
    }
  })

  test('that the kernel does not take are kept and sent when it does', async () => {
    using peer = createRawPeer(approve, { onOpen: ({ socket }) => socket.pause() })
    await using rig = await connect(peer.port, { window: 100_000 })
    const additionalData = new Uint8Array(999).fill(0x78)
    const waiting: Promise<boolean>[] = []
    let isFull = false
    for (let number = 1; !isFull && number < 100_000; number++) {
      const request = payment(number, { additionalData })
      waiting.push(
        rig.network.exchange(request, 60_000).then((outcome) => {
          if (outcome.kind === 'not_sent') isFull = true
          return outcome.kind === 'answered' && outcome.response.stan === stanOf(number)
        }),
      )
      if (number % 100 === 0) await Bun.sleep(0)
    }
    expect(isFull).toBe(true)
    const [connection] = peer.connections
    expect(connection?.receivedBytes()).toBe(0)
    connection?.socket.resume()
    const results = await Promise.all(waiting)
    const accepted = results.filter((isRight) => isRight).length
    // More than the kernel's buffers and ours hold cannot have been accepted.
    expect(accepted).toBeGreaterThan(1_000)
    expect(peer.received.map(({ stan }) => stan)).toEqual(
      Array.from({ length: accepted }, (_, index) => stanOf(index + 1)),
    )
    expect(peer.received.every((message) => message.additionalData?.length === 999)).toBe(true)
  })

  test('that nobody reads end the connection, and what waits behind them was not sent', async () => {
    using peer = createRawPeer(ignore, { onOpen: ({ socket }) => socket.pause() })
    await using rig = await connect(peer.port, {
      window: 100_000,
      reconnect: { backoffFirstMs: 60_000, backoffMaxMs: 60_000 },
    })
    const kinds = new Map<string, number>()
    const waiting: Promise<void>[] = []
    const started = performance.now()
    let isOver = false
    for (let number = 1; !isOver && number < 100_000; number++) {
      // The first of every two hundred has little time, though more than a busy machine stands still: once it waits
      // behind what the kernel took, so do the others.
      const timeoutMs = number % 200 === 1 ? 400 : 30_000
      const request = payment(number, { additionalData: new Uint8Array(999).fill(0x78) })
      waiting.push(
        rig.network.exchange(request, timeoutMs).then((outcome) => {
          const name = outcome.kind === 'not_sent' ? outcome.reason : outcome.kind
          kinds.set(name, (kinds.get(name) ?? 0) + 1)
          if (outcome.kind === 'not_sent') isOver = true
        }),
      )
      if (number % 200 === 0) await Bun.sleep(0)
    }
    await Promise.all(waiting)
    // Long before the time of the others.
    expect(performance.now() - started).toBeLessThan(25_000)
    expect(kinds.get('connection_lost') ?? 0).toBeGreaterThan(1_000)
    expect(kinds.get('connection_lost_unsent') ?? 0).toBeGreaterThan(100)
    expect(rig.network.health().connectionsUp).toBe(0)
  })
})

const bytesTimes = (count: number, bytes: readonly number[]): Uint8Array =>
  Uint8Array.from({ length: count * bytes.length }, (_, at) => bytes[at % bytes.length] ?? 0)

describe('a lost connection', () => {
  test('fails all that wait on it at once, and is made again', async () => {
    using peer = createRawPeer(({ socket, received }) => {
      if (received.length === 3) socket.terminate()
    })
    await using rig = await connect(peer.port)
    const started = performance.now()
    const outcomes = await Promise.all(
      [1, 2, 3].map((number) => rig.network.exchange(payment(number), 30_000)),
    )
    expect(outcomes).toEqual(outcomes.map(() => ({ kind: 'connection_lost' })))
    expect(performance.now() - started).toBeLessThan(20_000)
    await until(() => peer.connections.length === 2)
  })

  test('leaves the others of the pool alone', async () => {
    using peer = createRawPeer((connection, message) => {
      if (message.amount === '000000000666') connection.socket.terminate()
      else setTimeout(() => approve(connection, message), 20)
    })
    await using rig = await connect(peer.port, { poolSize: 2 })
    const outcomes = await Promise.all([
      rig.network.exchange(payment(1), 20_000),
      rig.network.exchange(payment(2, { amount: '000000000666' }), 20_000),
    ])
    expect(outcomes.map(({ kind }) => kind)).toEqual(['answered', 'connection_lost'])
    expect((await rig.network.exchange(payment(3), 20_000)).kind).toBe('answered')
  })

  test('that had not got a byte says not sent', async () => {
    using peer = createRawPeer(ignore)
    const rig = await connect(peer.port)
    const outcome = rig.network.exchange(payment(1), 20_000)
    // Closes before the turn of the event loop in which frames are written.
    const stopped = rig.network.stop()
    peer.connections[0]?.socket.terminate()
    const { kind } = await outcome
    await stopped
    expect(['not_sent', 'connection_lost']).toContain(kind)
    expect(kind === 'not_sent').toBe(peer.connections[0]?.receivedBytes() === 0)
  })

  test('comes back with a server that was away', async () => {
    const peer = createRawPeer(approve)
    await using rig = await connect(peer.port)
    peer[Symbol.dispose]()
    await until(() => rig.network.health().connectionsUp === 0)
    expect((await rig.network.exchange(payment(1), 100)).kind).toBe('not_sent')
    const again = Bun.listen({
      hostname: '127.0.0.1',
      port: peer.port,
      socket: { data: ignore },
    })
    await until(() => rig.network.health().connectionsUp === 1)
    again.stop(true)
  })

  test.each([
    ['a length beyond the limit', Uint8Array.of(0xff, 0xff, 1, 2, 3)],
    ['five frames that hold no message', bytesTimes(5, [0, 4, 1, 2, 3, 4])],
    ['five messages cut short', bytesTimes(5, [0, 5, 0x30, 0x31, 0x31, 0x30, 0x72])],
  ])('is what becomes of one that brings %s', async (_, bytes) => {
    using peer = createRawPeer(({ socket }) => void socket.write(bytes))
    await using rig = await connect(peer.port)
    const outcome = await rig.network.exchange(payment(1), 30_000)
    expect(outcome).toEqual({ kind: 'connection_lost' })
    await until(() => peer.connections.length === 2)
    expect(peer.connections[0]?.isOpen).toBe(false)
  })

  test('is not the end of a request that is too long to be sent', async () => {
    using peer = createRawPeer(approve)
    const { length } = frameOf(payment(1))
    await using tight = await connect(peer.port, { frameBytesMax: length - 3 })
    expect(tight.network.exchange(payment(1), 20_000)).rejects.toThrow('longer')
    expect(tight.network.health()).toMatchObject({ connectionsUp: 1, inFlight: 0 })
    await using exact = await connect(peer.port, { frameBytesMax: length - 2 })
    // Its answer is longer still.
    expect((await exact.network.exchange(payment(1), 20_000)).kind).toBe('connection_lost')
    expect(peer.received.length).toBe(1)
  })

  test('is the end at one byte above the longest frame, not at it', async () => {
    const request = payment(1)
    const answer = frameOf(approvalOf(request))
    for (const [frameBytesMax, expected] of [
      [answer.length - 2, 'answered'],
      [answer.length - 3, 'connection_lost'],
    ] as const) {
      using peer = createRawPeer(approve)
      await using rig = await connect(peer.port, { frameBytesMax })
      expect((await rig.network.exchange(payment(1), 20_000)).kind).toBe(expected)
    }
  })
})

describe('an echo test', () => {
  test('is sent after silence, and keeps the connection', async () => {
    using peer = createRawPeer(approve)
    await using rig = await connect(peer.port, { echoMs: 100 })
    expect(rig.network.health().lastEcho).toBeUndefined()
    await until(() => peer.received.length >= 3)
    expect(peer.received.map(({ mti, networkCode }) => [mti, networkCode])).toEqual(
      peer.received.map(() => ['0800', '301']),
    )
    expect(new Set(peer.received.map(({ stan }) => stan)).size).toBe(peer.received.length)
    expect(peer.connections.length).toBe(1)
    await until(() => rig.network.health().lastEcho !== undefined)
    expect(rig.network.health().lastEcho?.roundTripMs).toBeWithin(0, 1_000)
  })

  test('without an answer, twice, ends the connection', async () => {
    using peer = createRawPeer(ignore)
    await using rig = await connect(peer.port, { echoMs: 40 })
    await until(() => peer.connections.length === 2)
    expect(peer.connections[0]?.received.length).toBe(2)
    expect(rig.network.health().lastEcho).toBeUndefined()
  })

  test('is sent at once when a request has no answer and nothing else came: nobody may be there', async () => {
    using peer = createRawPeer(ignore)
    const times = { echoMs: 60_000, timeoutMs: 30, answerMs: 30 }
    await using rig = await connect(peer.port, times)
    await Bun.sleep(times.timeoutMs)
    const outcomes = [1, 2, 3].map((number) => rig.network.exchange(payment(number), 30))
    expect(new Set((await Promise.all(outcomes)).map(({ kind }) => kind))).toEqual(
      new Set(['timed_out']),
    )
    await until(() => peer.connections.length === 2)
    const types = peer.connections[0]?.received.map(({ mti }) => mti)
    expect(types?.join(' ')).toBe('0100 0100 0100 0800 0800')
  })

  test('is not, where others are answered over the same connection', async () => {
    using peer = createRawPeer((connection, message) => {
      if (message.stan !== stanOf(1)) approve(connection, message)
    })
    await using rig = await connect(peer.port, { echoMs: 60_000, timeoutMs: 1_000 })
    // Others are answered meanwhile, also where the machine stands still for a moment.
    const unanswered = rig.network.exchange(payment(1), 1_000)
    for (let number = 2; number <= 12; number++) {
      await rig.network.exchange(payment(number), 20_000)
      await Bun.sleep(20)
    }
    expect((await unanswered).kind).toBe('timed_out')
    expect(peer.received.map(({ mti }) => mti).filter((mti) => mti === '0800')).toEqual([])
  })

  test('is never sent when it is switched off', async () => {
    using peer = createRawPeer(approve)
    /** What a connection that has come up waits for. */
    const waitsMs = async (echoMs: number) => {
      using timers = spyOn(globalThis, 'setTimeout')
      await using _ = await connect(peer.port, { echoMs })
      return timers.mock.calls.map(([, ms]) => ms)
    }
    const [without, having] = [await waitsMs(0), await waitsMs(77_777)]
    expect(having).toContain(77_777)
    expect(without).toEqual(having.filter((ms) => ms !== 77_777))
    await using rig = await connect(peer.port, { echoMs: 0 })
    expect(peer.received).toEqual([])
    expect((await rig.network.exchange(payment(1), 20_000)).kind).toBe('answered')
    using silent = createRawPeer(ignore)
    await using other = await connect(silent.port, { echoMs: 0, timeoutMs: 20 })
    expect((await other.network.exchange(payment(1), 40)).kind).toBe('timed_out')
    await Bun.sleep(20)
    expect(silent.received.map(({ mti }) => mti)).toEqual(['0100'])
  })

  test('is not sent while the network is heard', async () => {
    const echoMs = 400
    let heardMs = performance.now()
    /** Before each echo test. */
    const silencesMs: number[] = []
    using peer = createRawPeer((connection, message) => {
      if (message.mti === '0800') silencesMs.push(performance.now() - heardMs)
      approve(connection, message)
      heardMs = performance.now()
    })
    await using rig = await connect(peer.port, { echoMs })
    for (let number = 1; number <= 30; number++) {
      await rig.network.exchange(payment(number), 20_000)
      await Bun.sleep(20)
    }
    // None, unless this machine itself stood still for so long.
    expect(silencesMs.filter((ms) => ms < echoMs - 50)).toEqual([])
    expect(peer.received.length - silencesMs.length).toBe(30)
  })
})

describe('the sign-on', () => {
  test('comes before traffic, and the sign-off after', async () => {
    const held: (() => void)[] = []
    using peer = createRawPeer((connection, message) => {
      if (message.networkCode === '001') held.push(() => approve(connection, message))
      else approve(connection, message)
    })
    const network = createNetwork(networkOptions(peer.port, { signOn: true }))
    network.start()
    await until(() => held.length === 1)
    expect((await network.exchange(payment(1), 100)).kind).toBe('not_sent')
    held[0]?.()
    await until(() => network.health().connectionsUp === 1)
    expect((await network.exchange(payment(1), 20_000)).kind).toBe('answered')
    await network.stop()
    expect(peer.received.map(({ mti, networkCode }) => networkCode ?? mti)).toEqual([
      '001',
      '0100',
      '002',
    ])
    await until(() => peer.connections[0]?.isOpen === false)
  })

  test('that is refused or unanswered ends the connection', async () => {
    using peer = createRawPeer((connection, message) => {
      const answer = approvalOf(message)
      if (peer.connections.length === 1) answer.responseCode = '91'
      if (peer.connections.length !== 2) connection.socket.write(frameOf(answer))
    })
    const network = createNetwork(networkOptions(peer.port, { signOn: true, answerMs: 500 }))
    network.start()
    await until(() => network.health().connectionsUp === 1)
    expect(peer.connections.length).toBeGreaterThanOrEqual(3)
    await until(() => peer.connections.filter(({ isOpen }) => isOpen).length === 1)
    await network.stop()
  })
})

describe('a message of the network', () => {
  test('of network management is answered, key management refused', async () => {
    const answers: CardMessage[] = []
    using peer = createRawPeer((_, message) => void answers.push(message))
    await using rig = await connect(peer.port)
    const [connection] = peer.connections
    for (const code of ['301', '001', '101']) {
      connection?.socket.write(frameOf(management(code, `000${code}`)))
    }
    await until(() => answers.length === 3)
    expect(answers.map((one) => [one.mti, one.networkCode, one.stan, one.responseCode])).toEqual([
      ['0810', '301', '000301', '00'],
      ['0810', '001', '000001', '00'],
      ['0810', '101', '000101', '40'],
    ])
    expect(rig.network.health().connectionsUp).toBe(1)
  })

  test('is answered where it came from', async () => {
    const tpdus: number[][] = []
    const framing = framings['binary-2-tpdu']
    using peer = createRawPeer((_, __, tpdu) => void tpdus.push([...tpdu]), { framing })
    await using rig = await connect(peer.port, { framing })
    expect(rig.network.health().connectionsUp).toBe(1)
    peer.connections[0]?.socket.write(
      frameOf(management('301'), framing, Uint8Array.of(0x60, 1, 2, 3, 4)),
    )
    await until(() => tpdus.length === 1)
    expect(tpdus).toEqual([[0x60, 3, 4, 1, 2]])
  })

  test('is answered and obeyed, whatever is in the fields that it only repeats', async () => {
    const answers: CardMessage[] = []
    using peer = createRawPeer((_, message) => void answers.push(message), {
      checked: checkedFields,
    })
    const { counts, metrics } = counting()
    await using rig = await connect(peer.port, { metrics, onAdvice: async () => '00' })
    const [connection] = peer.connections
    // Institutions that are blank, and a private field that is no text.
    const originalData = `01000000051120120000${' '.repeat(22)}`
    const additionalData = Uint8Array.of(0x58, 0, 1, 0x4b, 0x85, 0)
    connection?.send(looseFrameOf(payment(5, { originalData }, '0420')))
    for (const code of ['301', '002']) {
      const asked = Object.assign(management(code, `000${code}`), { additionalData })
      connection?.send(looseFrameOf(asked))
    }
    await until(() => answers.length === 3)
    expect(answers.toSorted((one, other) => Number(one.mti) - Number(other.mti))).toMatchObject([
      { mti: '0430', responseCode: '00', originalData },
      { mti: '0810', networkCode: '301', responseCode: '00', additionalData },
      { mti: '0810', networkCode: '002', responseCode: '00', additionalData },
    ])
    expect(rig.network.health().connectionsUp).toBe(0)
    expect([counts.unexpected, peer.connections.length]).toEqual([0, 1])
  })

  test('that could not be kept is not answered, and leaves the others alone', async () => {
    const answers: CardMessage[] = []
    using peer = createRawPeer((_, message) => void answers.push(message))
    const reconciliation = reconciliationRulesOf(reconciliationForm.parse({ cut_over: 'network' }))
    const onCutOver = () => Promise.reject(new Error('no database'))
    await using rig = await connect(peer.port, { reconciliation, onCutOver })
    for (const code of ['201', '301']) {
      peer.connections[0]?.send(frameOf(management(code, `000${code}`)))
    }
    await until(() => answers.length === 1)
    expect(answers).toMatchObject([{ mti: '0810', networkCode: '301' }])
    expect(rig.network.health().connectionsUp).toBe(1)
  })

  test('that asks for something else is counted and ignored', async () => {
    using peer = createRawPeer(approve)
    const { counts, metrics } = counting()
    await using rig = await connect(peer.port, { metrics })
    peer.connections[0]?.socket.write(frameOf(payment(7)))
    const advice = frameOf(payment(8))
    // 0120, an advice, which nobody takes here.
    advice[4] = 0x32
    peer.connections[0]?.socket.write(advice)
    expect((await rig.network.exchange(payment(9), 20_000)).kind).toBe('answered')
    expect([counts.unexpected, peer.connections.length]).toEqual([2, 1])
  })
})

describe('stopping', () => {
  test('waits for what is pending, answers the network and takes nothing new', async () => {
    const held: (() => void)[] = []
    using peer = createRawPeer((connection, message) => {
      if (message.mti === '0100') held.push(() => approve(connection, message))
    })
    const { network } = await connect(peer.port, { drainMs: 40_000 })
    const pending = network.exchange(payment(1), 20_000)
    await until(() => held.length === 1)
    let isStopped = false
    const stopped = network.stop().then(() => {
      isStopped = true
    })
    expect((await network.exchange(payment(2), 20_000)).kind).toBe('not_sent')
    peer.connections[0]?.socket.write(frameOf(management('301')))
    await until(() => peer.received.some(({ mti }) => mti === '0810'))
    expect(isStopped).toBe(false)
    held[0]?.()
    expect((await pending).kind).toBe('answered')
    await stopped
    await until(() => peer.connections[0]?.isOpen === false)
  })

  test('does not wait for an echo test', async () => {
    using peer = createRawPeer(ignore)
    const { network } = await connect(peer.port, { drainMs: 60_000, echoMs: 20, answerMs: 60_000 })
    await until(() => peer.received.length === 1)
    await network.stop()
    await until(() => peer.connections[0]?.isOpen === false)
  })

  test('ends in time whatever is pending', async () => {
    using peer = createRawPeer(ignore)
    const { network } = await connect(peer.port, { drainMs: 50 })
    const pending = network.exchange(payment(1), 30_000)
    await until(() => peer.received.length === 1)
    await network.stop()
    expect(await pending).toEqual({ kind: 'connection_lost' })
  })

  test('ends attempts to connect', async () => {
    const { counts, metrics } = counting()
    const reconnect = { backoffFirstMs: 1, backoffMaxMs: 1 }
    const network = createNetwork(networkOptions(1, { reconnect, metrics }))
    network.start()
    await until(() => counts.reconnects >= 3)
    await network.stop()
    const before = counts.reconnects
    await Bun.sleep(100)
    expect(counts.reconnects).toBe(before)
  })
})

test('a frame whose time is over before the kernel had it is not sent: another process may have reversed it', async () => {
  using peer = createRawPeer(approve)
  await using rig = await connect(peer.port)
  const late = rig.network.exchange(payment(1), 5)
  // The event loop stands still, as does a process that is stopped.
  Bun.sleepSync(40)
  expect(await late).toEqual({ kind: 'not_sent', reason: 'connection_lost_unsent' })
  await until(() => peer.connections.length === 2 && rig.network.health().connectionsUp === 1)
  expect((await rig.network.exchange(payment(2), 20_000)).kind).toBe('answered')
  expect(peer.received.map(({ stan }) => stan)).toEqual([stanOf(2)])
})

test('a second fault of the same bytes does not keep the connection from coming back', async () => {
  let connections = 0
  const nonsense = Buffer.from('no message')
  const frames = Array.from({ length: unreadableMax }, () => [
    Buffer.from([0, nonsense.length]),
    nonsense,
  ]).flat()
  using peer = createRawPeer(ignore, {
    onOpen: ({ socket }) => {
      // The last length is longer than any frame may be.
      if (connections++ === 0) socket.write(Buffer.concat([...frames, Buffer.alloc(8, 0xff)]))
    },
  })
  const network = createNetwork(
    networkOptions(peer.port, { reconnect: { backoffFirstMs: 1, backoffMaxMs: 1 } }),
  )
  network.start()
  await until(() => connections > 1 && network.health().connectionsUp === 1)
  await network.stop()
})
