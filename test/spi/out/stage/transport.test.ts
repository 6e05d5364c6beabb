import { describe, expect, test } from 'bun:test'
import type { InterfaceClient, SendOptions, SendOutcome, Unreachable } from '#src/spi/link/index.ts'
import type { Channel } from '#src/spi/messages/index.ts'
import {
  createChannelHealth,
  downMs,
  failuresMax,
} from '../../../../src/spi/out/stage/channel-health.ts'
import { createTransport } from '../../../../src/spi/out/stage/transport.ts'
import { quietLogger } from '../../../support/database.ts'

const down: SendOutcome = { kind: 'unreachable', reason: 'r', retryAfterMs: 1, isDown: true }
const busy: SendOutcome = { ...down, isDown: false }
const unknown: SendOutcome = { kind: 'unknown', reason: 'no answer' }
const refused: SendOutcome = {
  kind: 'refused',
  status: 400,
  problem: { type: '', title: '', detail: '' },
}

const lockedOut: SendOutcome = { ...refused, status: 403 }

const unused = {
  pay: async () => undefined,
  admit: () => Promise.reject(new Error('not used')),
  room: () => Promise.reject(new Error('not used')),
  openStream: () => Promise.reject(new Error('not used')),
  catalogue: () => Promise.reject(new Error('not used')),
  close: async () => {},
}

type Answer =
  | SendOutcome
  | ((options: SendOptions, messages: readonly Uint8Array[]) => Promise<SendOutcome>)

/** A client whose channels answer as told; accepted when nothing is. */
const transportOver = (
  answers: Partial<Record<Channel, Answer>>,
  {
    channels = ['PRIMARY', 'SECONDARY'],
    isFailover = true,
  }: { channels?: Channel[]; isFailover?: boolean } = {},
) => {
  const requests: { readonly channel: Channel; readonly messages: readonly Uint8Array[] }[] = []
  const client: InterfaceClient = {
    channels,
    send: async (channel, messages, options = {}) => {
      requests.push({ channel, messages })
      const told = answers[channel]
      if (typeof told === 'function') return told(options, messages)
      return told ?? { kind: 'accepted', resourceIds: messages.map(() => channel) }
    },
    ...unused,
  }
  const clock = { ms: 0 }
  const health = createChannelHealth({
    channels,
    logger: quietLogger,
    nowMs: () => clock.ms,
  })
  const send = createTransport({ client, requestsMax: 4, isFailover, health })
  const bytes = Buffer.from('<a/>')
  let sent = 0
  return {
    answers,
    health,
    sendText: (text: string, type = 'pacs.008') =>
      send({ id: text, type, channel: 'PRIMARY', bytes: Buffer.from(text) }),
    requests,
    clock,
    send: (type = 'pacs.008', channel: Channel = 'PRIMARY', isPaid = false) =>
      send({
        id: `${sent++}`,
        type,
        channel,
        bytes,
        comesAgain: isPaid,
        paidOn: isPaid ? channel : undefined,
      }),
    ways: () => requests.splice(0).map(({ channel }) => channel),
  }
}

test('what its caller brings again waits for no tokens, and what has paid has paid on one channel alone', async () => {
  const told: (readonly [string, Channel, boolean | undefined])[] = []
  const channels: readonly Channel[] = ['PRIMARY', 'SECONDARY']
  const health = createChannelHealth({ channels, logger: quietLogger })
  const client: InterfaceClient = {
    channels,
    ...unused,
    pay: async (channel, _, comesAgain) => {
      told.push(['pay', channel, comesAgain])
      return undefined
    },
    send: async (channel, messages, options) => {
      told.push(['send', channel, options?.isPaid])
      return channel === 'SECONDARY' && told.length === 4
        ? down
        : { kind: 'accepted', resourceIds: messages.map(() => 'r') }
    },
  }
  const send = createTransport({ client, requestsMax: 1, isFailover: true, health })
  const message = {
    id: 'm',
    type: 'pacs.008',
    channel: 'SECONDARY',
    bytes: Buffer.from('<a/>'),
  } as const
  await send(message)
  const paid = { ...message, comesAgain: true, paidOn: 'SECONDARY' } as const
  await send(paid)
  await send(paid)
  expect(told).toEqual([
    ['pay', 'SECONDARY', false],
    ['send', 'SECONDARY', true],
    ['send', 'SECONDARY', true],
    ['send', 'SECONDARY', true],
    ['pay', 'PRIMARY', true],
    ['send', 'PRIMARY', true],
  ])
})

test('who waits for tokens holds no request, and what is turned away takes no other way', async () => {
  const bucket = Promise.withResolvers<Unreachable | undefined>()
  const channels: readonly Channel[] = ['PRIMARY', 'SECONDARY']
  const health = createChannelHealth({ channels, logger: quietLogger })
  const client: InterfaceClient = {
    channels,
    ...unused,
    pay: () => bucket.promise,
    send: async (_, messages) => ({ kind: 'accepted', resourceIds: messages.map(() => 'r') }),
  }
  const send = createTransport({ client, requestsMax: 1, isFailover: true, health })
  const message = {
    id: 'm',
    type: 'pacs.008',
    channel: 'SECONDARY',
    bytes: Buffer.from('<a/>'),
  } as const
  const waiting = [send(message), send(message)]
  await Bun.sleep(5)
  expect(await send({ ...message, paidOn: 'SECONDARY' })).toMatchObject({ kind: 'accepted' })
  const full = { kind: 'unreachable', reason: 'full', retryAfterMs: 7, isDown: false } as const
  bucket.resolve(full)
  expect(await Promise.all(waiting)).toEqual([full, full])
})

test('the parts of a refused request pay again, and wait for their tokens', async () => {
  const { send, requests } = transportOver({
    SECONDARY: async ({ isPaid, comesAgain }) => {
      told.push([isPaid, comesAgain])
      const isOne = requests.at(-1)?.messages.length === 1
      return isOne ? { kind: 'accepted', resourceIds: ['r'] } : refused
    },
  })
  const told: (readonly [boolean | undefined, boolean | undefined])[] = []
  await Promise.all([0, 1].map(() => send('pacs.008', 'SECONDARY', true)))
  expect(told).toEqual([
    [true, true],
    [false, false],
    [false, false],
  ])
})

test('messages that are ready together go ten to a request, each channel its own', async () => {
  const { send, requests } = transportOver({})
  const outcomes = await Promise.all([
    ...Array.from({ length: 11 }, () => send()),
    send('pacs.008', 'SECONDARY'),
  ])
  expect(requests.map(({ channel, messages }) => `${channel} ${messages.length}`).sort()).toEqual([
    'PRIMARY 1',
    'PRIMARY 10',
    'SECONDARY 1',
  ])
  expect(outcomes.at(-1)).toEqual({
    kind: 'accepted',
    resourceId: 'SECONDARY',
    channel: 'SECONDARY',
  })
})

describe('the other channel', () => {
  test('takes the same bytes where the chosen one cannot be reached, either way', async () => {
    for (const [chosen, other] of [
      ['PRIMARY', 'SECONDARY'],
      ['SECONDARY', 'PRIMARY'],
    ] as const) {
      const { send, requests } = transportOver({ [chosen]: down })
      expect(await send('pacs.008', chosen)).toMatchObject({ kind: 'accepted', channel: other })
      expect(requests.map(({ channel }) => channel)).toEqual([chosen, other])
      expect(requests[1]?.messages).toEqual(requests[0]?.messages ?? [])
    }
  })

  test('is not used by the answer to a return, as it is by that to a payment', async () => {
    for (const [id, ways] of [
      [`D${'1'.repeat(31)}`, ['PRIMARY']],
      [`E${'1'.repeat(31)}`, ['PRIMARY', 'SECONDARY']],
    ] as const) {
      const over = transportOver({ PRIMARY: down })
      await over.sendText(`<OrgnlInstrId>${id}</OrgnlInstrId>`, 'pacs.002')
      expect(over.ways()).toEqual([...ways])
    }
  })

  test('is not used by a return, nor where that is switched off, nor where there is none', async () => {
    const bound = transportOver({ PRIMARY: down })
    expect(await bound.send('pacs.004')).toMatchObject({ kind: 'unreachable' })
    expect(bound.ways()).toEqual(['PRIMARY'])
    const off = transportOver({ PRIMARY: down }, { isFailover: false })
    expect(await off.send()).toMatchObject({ kind: 'unreachable' })
    expect(off.ways()).toEqual(['PRIMARY'])
    const single = transportOver({ PRIMARY: down }, { channels: ['PRIMARY'] })
    expect(await single.send()).toMatchObject({ kind: 'unreachable' })
    expect(single.ways()).toEqual(['PRIMARY'])
  })

  test('is not used for what the chosen one asks to wait for, refuses or leaves in doubt', async () => {
    for (const answer of [busy, refused, unknown]) {
      const { send, ways } = transportOver({ PRIMARY: answer })
      expect((await send()).kind).toBe(answer.kind)
      expect(ways()).toEqual(['PRIMARY'])
    }
  })
})

describe('refused access', () => {
  const badRefused = async (
    _: SendOptions,
    messages: readonly Uint8Array[],
  ): Promise<SendOutcome> =>
    messages.some((one) => Buffer.from(one).toString().startsWith('bad'))
      ? lockedOut
      : { kind: 'accepted', resourceIds: messages.map(() => 'r') }

  test.each([
    ['first', ['bad', '1', '2', '3']],
    ['in the middle', ['1', '2', 'bad', '3']],
    ['last', ['1', '2', '3', 'bad']],
  ])('for one message alone holds up no other: %s', async (_, texts) => {
    const { sendText, ways, health } = transportOver({
      PRIMARY: badRefused,
      SECONDARY: badRefused,
    })
    const expected = texts.map((text) => (text === 'bad' ? 'unreachable' : 'accepted'))
    const outcomes = await Promise.all(texts.map((text) => sendText(text)))
    expect(outcomes.map(({ kind }) => kind)).toEqual(expected)
    ways()
    for (let count = 0; count < 3; count++) {
      expect(await sendText('bad')).toMatchObject({ refusal: { status: 403 } })
    }
    // It is known by now: the other channel is not troubled with it.
    expect(ways()).toEqual(['PRIMARY', 'PRIMARY', 'PRIMARY'])
    for (const channel of ['PRIMARY', 'SECONDARY'] as const) {
      expect([health.isPaused(channel), health.isUp(channel)]).toEqual([false, true])
    }
  })

  test('for one message again and again pauses nothing, with none let in between', async () => {
    const { sendText, clock, health } = transportOver({
      PRIMARY: badRefused,
      SECONDARY: badRefused,
    })
    for (let count = 0; count < 3; count++) {
      expect(await sendText('bad')).toMatchObject({ kind: 'unreachable' })
      clock.ms += downMs
    }
    expect(health.check()).toMatchObject({ status: 'down' })
    expect(await sendText('sound')).toMatchObject({ kind: 'accepted' })
    expect(health.check().detail).toMatchObject({ primary: { access_refused: false } })
  })

  test.each([
    ['in one request', ['bad 1', 'bad 2', 'sound']],
    ['in more than one', [...Array.from({ length: 10 }, (_, index) => `bad ${index}`), 'sound']],
  ])('for some that come due as the pause ends keeps no other out: %s', async (_, texts) => {
    const { sendText, clock, health } = transportOver({
      PRIMARY: badRefused,
      SECONDARY: badRefused,
    })
    const bad = texts.slice(0, -1)
    while (health.check().status !== 'down') await Promise.all(bad.map((text) => sendText(text)))
    expect(await sendText('sound')).toMatchObject({ kind: 'unreachable' })
    // Each may stop the others once, until it is known.
    for (const text of bad) {
      clock.ms += downMs
      await sendText(text)
    }
    clock.ms += downMs
    const expected = texts.map((text) => (text === 'sound' ? 'accepted' : 'unreachable'))
    const outcomes = await Promise.all(texts.map((text) => sendText(text)))
    expect(outcomes.map(({ kind }) => kind)).toEqual(expected)
    expect(health.check().detail).toMatchObject({ primary: { access_refused: false } })
  })

  test('for a message known to be to blame is of its own request, within the same number of them', async () => {
    let running = 0
    let most = 0
    const answer = async (options: SendOptions, messages: readonly Uint8Array[]) => {
      most = Math.max(most, ++running)
      await Bun.sleep(1)
      running--
      return badRefused(options, messages)
    }
    const { sendText, requests } = transportOver({ PRIMARY: answer, SECONDARY: answer })
    const bad = Array.from({ length: 8 }, (_, index) => `bad ${index}`)
    await Promise.all(['sound', ...bad].map((text) => sendText(text)))
    requests.splice(0)
    most = 0
    await Promise.all([...bad, '1', '2', '3'].map((text) => sendText(text)))
    const primary = requests.filter(({ channel }) => channel === 'PRIMARY')
    expect(primary.map(({ messages }) => messages.length).sort()).toEqual([...bad.map(() => 1), 3])
    expect(most).toBe(4)
  })

  test('for a message to blame leaves it the other channel once its own is down', async () => {
    const { sendText, ways, answers } = transportOver({ PRIMARY: badRefused })
    await Promise.all(['bad', 'sound'].map((text) => sendText(text)))
    answers.PRIMARY = down
    ways()
    expect(await sendText('bad')).toMatchObject({ kind: 'accepted', channel: 'SECONDARY' })
    expect(ways()).toEqual(['PRIMARY', 'SECONDARY'])
  })

  test('for whatever is sent pauses the channel after a few requests, and the other takes over', async () => {
    const { send, ways } = transportOver({ PRIMARY: lockedOut })
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => send()))
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['accepted']))
    expect(ways().filter((way) => way === 'PRIMARY').length).toBeLessThan(7)
    expect(await send()).toMatchObject({ kind: 'accepted', channel: 'SECONDARY' })
    expect(ways()).toEqual(['SECONDARY'])
  })
})

describe('a channel that leaves requests without an answer', () => {
  test('is passed over after several in a row, and asked again after a while', async () => {
    const { send, ways, clock, answers } = transportOver({ PRIMARY: unknown })
    for (let count = 0; count < failuresMax; count++) {
      expect((await send()).kind).toBe('unknown')
    }
    expect(ways()).toEqual(Array(failuresMax).fill('PRIMARY'))
    expect(await send()).toMatchObject({ kind: 'accepted', channel: 'SECONDARY' })
    clock.ms += downMs - 1
    expect(await send()).toMatchObject({ channel: 'SECONDARY' })
    expect(ways()).toEqual(['SECONDARY', 'SECONDARY'])
    clock.ms += 1
    answers.PRIMARY = undefined as never
    expect(await send()).toMatchObject({ channel: 'PRIMARY' })
    expect(await send()).toMatchObject({ channel: 'PRIMARY' })
  })

  test('is not passed over for fewer, nor once it has answered in between', async () => {
    const { send, ways, answers } = transportOver({})
    for (const answer of [unknown, refused, unknown, busy]) {
      answers.PRIMARY = answer
      for (let count = 1; count < failuresMax; count++) await send()
    }
    expect(new Set(ways())).toEqual(new Set(['PRIMARY']))
  })

  test('is asked on where the other is no better, by every message', async () => {
    const { send, ways } = transportOver({ PRIMARY: unknown, SECONDARY: unknown })
    for (let count = 0; count < failuresMax; count++) await send()
    for (let count = 0; count < failuresMax; count++) await send('pacs.008', 'SECONDARY')
    ways()
    await send()
    await send('pacs.008', 'SECONDARY')
    await send()
    expect(ways()).toEqual(['PRIMARY', 'SECONDARY', 'PRIMARY'])
  })

  test('is asked on where no other is to be used', async () => {
    const { send, ways } = transportOver({ PRIMARY: unknown }, { isFailover: false })
    for (let count = 0; count < failuresMax + 2; count++) await send()
    expect(ways()).toHaveLength(failuresMax + 2)
  })

  /** Requests that hang: each attempt of them ends, without an answer, when it is told to. */
  const hanging = () => {
    const attempts: (() => void)[] = []
    const answer = async ({ onLate }: SendOptions): Promise<SendOutcome> => {
      for (let attempt = 1; attempt <= 3; attempt++) {
        const over = Promise.withResolvers<void>()
        attempts.push(over.resolve)
        await over.promise
        if (onLate?.() === false) break
      }
      return { kind: 'unknown', reason: 'no answer in time', isLate: true }
    }
    const end = async (count: number): Promise<void> => {
      while (attempts.length < count) await Bun.sleep(0)
      for (const resolve of attempts.splice(0, count)) resolve()
    }
    return { attempts, answer, end }
  }

  test('is passed over after so many attempts in a row, of one request or of several at once', async () => {
    const { answer, end, attempts } = hanging()
    const { send, ways } = transportOver({ PRIMARY: answer })
    // Two requests at once: their second attempts would be the third and fourth.
    const first = send()
    while (attempts.length < 1) await Bun.sleep(0)
    const second = send()
    await end(2)
    await end(2)
    expect((await Promise.all([first, second])).map(({ kind }) => kind)).toEqual([
      'unknown',
      'unknown',
    ])
    expect(attempts).toHaveLength(0)
    expect(await send()).toMatchObject({ channel: 'SECONDARY' })
    expect(ways()).toEqual(['PRIMARY', 'PRIMARY', 'SECONDARY'])
  })

  test('is looked at by one request, however long that hangs; all others take the other channel', async () => {
    const { answer, end, attempts } = hanging()
    const { send, ways, clock } = transportOver({ PRIMARY: answer })
    const first = send()
    for (let count = 0; count < failuresMax; count++) await end(1)
    await first
    clock.ms += downMs
    const look = send()
    while (attempts.length < 1) await Bun.sleep(0)
    for (let count = 0; count < 5; count++) {
      clock.ms += downMs
      expect(await send()).toMatchObject({ channel: 'SECONDARY' })
    }
    // Its message is not kept for another attempt.
    await end(1)
    expect((await look).kind).toBe('unknown')
    expect(ways().filter((way) => way === 'PRIMARY')).toHaveLength(2)
  })
})
