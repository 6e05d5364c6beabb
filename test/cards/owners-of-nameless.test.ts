import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CardMessage, parseOriginalData } from '#codecs/iso8583'
import { authorizationBody, type CardsRig, createCardsRig } from '../support/cards-rig.ts'
import { createScriptedNetwork, type ScriptedNetwork } from '../support/scripted-network.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/* Late answers without DE 37: whatever they answer, they belong to the message that has their DE 11 and their DE 7. */

setDefaultTimeout(60_000)

let network: ScriptedNetwork
let rig: CardsRig
beforeAll(async () => {
  network = createScriptedNetwork()
  rig = await createCardsRig({ timeoutMs: 250, windowMs: 700, networkA: network })
})
afterAll(() => rig[Symbol.asyncDispose]())

const approves = { responseCode: '00', authCode: 'A00001' } as const

type Json = Readonly<Record<string, unknown>>

const authorize = async (change: Json = {}, of = rig): Promise<string> => {
  const body = authorizationBody('tok_visa_approved', change)
  const response = await of.post('/v1/transactions/authorize', body)
  return ((await response.json()) as { readonly id: string }).id
}
const until = async (what: () => boolean): Promise<void> => {
  const deadline = performance.now() + 20_000
  while (!what()) {
    if (performance.now() > deadline) throw new Error('did not come true in time')
    await Bun.sleep(5)
  }
}
const isReversal = ({ mti }: CardMessage): boolean => mti === '0400' || mti === '0401'

/** A second later: the hour, which DE 37 begins with, stays. */
const nextSecond = (transmission = ''): string =>
  transmission.slice(0, 8) + String((Number(transmission.slice(8)) + 1) % 60).padStart(2, '0')

/**
 * A network that declines the next message and holds its money all the same; what is returned says so, late. Until
 * then it says so of other messages: of another moment, and of another number.
 */
const contradicting = () => {
  const held = new Set<string>()
  let late = (_change: (declined: CardMessage) => Partial<CardMessage>): void => undefined
  network.on((request, peer) => {
    if (isReversal(request)) {
      const { stan } = parseOriginalData(request.originalData ?? '')
      peer.answer({ responseCode: held.delete(stan) ? '00' : '25' })
      return
    }
    held.add(request.stan ?? '')
    peer.answer({ responseCode: '05' })
    late = (change) => peer.answer({ ...approves, rrn: undefined, ...change(request) })
  })
  return {
    held,
    tellOthers: async (): Promise<void> => {
      late(({ transmissionDateTime }) => ({
        transmissionDateTime: nextSecond(transmissionDateTime),
      }))
      late(() => ({ stan: '987654' }))
      await Bun.sleep(200)
    },
    tell: (rrn?: string): void => late(() => ({ rrn })),
  }
}

test.each([
  ['authorization', {}],
  ['capture', { amount: 4_000 }],
  ['capture', { amount: 4_000, final: false }],
  ['refund', { amount: 2_000 }],
  ['increment', { amount: 2_000 }],
])('an approval that contradicts a decline has an owner: %s %j', async (path, body) => {
  network.on((_, peer) => peer.answer(approves))
  const following =
    path === 'authorization' ? undefined : await authorize({ capture: path === 'refund' })
  const { held, tellOthers, tell } = contradicting()
  const id = following ?? (await authorize())
  if (following !== undefined) {
    const response = await rig.post(`/v1/transactions/${id}/${path}`, body)
    expect(response.status).toBe(422)
    await response.body?.cancel()
  }
  const before = await (await rig.get(`/v1/transactions/${id}`)).json()
  const { length } = network.seen
  await tellOthers()
  expect([network.seen.length, held.size]).toEqual([length, 1])
  tell()
  await until(() => held.size === 0)
  expect(network.seen.slice(length).map(({ mti }) => mti)).toEqual(['0400'])
  const { status } = before as { readonly status: string }
  expect(await rig.settled(id)).toMatchObject({ status })
})

test('a void that is done after it was refused goes on', async () => {
  network.on((_, peer) => peer.answer(approves))
  const id = await authorize()
  let late = (): void => undefined
  network.on((_, peer) => {
    late = () => peer.answer({ responseCode: '00', rrn: undefined })
    peer.answer({ responseCode: '05' })
  })
  const response = await rig.post(`/v1/transactions/${id}/void`)
  expect(response.status).toBe(422)
  await response.body?.cancel()
  const { length } = network.seen
  network.on((_, peer) => peer.answer({ responseCode: '00' }))
  late()
  await until(() => network.seen.length > length)
  expect(await rig.settled(id)).toMatchObject({ status: 'voided' })
})

test('the late answer to a reversal is kept with its transaction', async () => {
  let late: (() => void) | undefined
  network.on((request, peer) => {
    if (!isReversal(request)) return
    peer.answer({ responseCode: '00' })
    late ??= () => peer.answer({ responseCode: '00', rrn: undefined })
  })
  const response = await rig.post(
    '/v1/transactions/authorize',
    authorizationBody('tok_visa_approved'),
  )
  const { error } = (await response.json()) as { error: { details: { transaction_id: string } } }
  const id = error.details.transaction_id
  await rig.settled(id)
  late?.()
  const types = async (): Promise<readonly string[]> => {
    const { events } = (await (await rig.get(`/v1/transactions/${id}/events`)).json()) as {
      events: readonly { type: string }[]
    }
    return events.map(({ type }) => type)
  }
  for (const endMs = performance.now() + 10_000; !(await types()).includes('late_answer'); ) {
    if (performance.now() > endMs) throw new Error('it was not kept')
    await Bun.sleep(10)
  }
})

test('an advice of an authorization that is refused, and then taken after all, is taken back', async () => {
  const file = join(temporaryDirectory(), 'messages.json')
  const advices = { operations: ['authorization', 'capture'], floor_limits: { BRL: 10_000 } }
  writeFileSync(file, JSON.stringify({ advices }))
  const standing = await createCardsRig({
    ...{ timeoutMs: 250, windowMs: 700, database: rig.database },
    networkA: { port: network.port, stop: () => undefined },
    environment: { CARDGW_NETA_MESSAGES_FILE: file, CARDGW_NETA_CONNECT_WAIT_MS: '0' },
  })
  const isUp = () => standing.networks.byName('neta')?.health().connectionsUp === 1
  network.ask('002')
  await until(() => !isUp())
  const id = await authorize({}, standing)
  const { held, tellOthers, tell } = contradicting()
  network.ask('001')
  await until(() => held.size === 1)
  expect(await standing.settled(id)).toMatchObject({ status: 'declined', reason: 'advice_refused' })
  await tellOthers()
  tell()
  await until(() => held.size === 0)
  expect(network.seen.at(-1)?.originalData).toStartWith('0120')
  expect(await standing.settled(id)).toMatchObject({ status: 'declined' })
})

test('where an authorization is a 0200, its late approval has an owner too, with DE 37 and without', async () => {
  const file = join(temporaryDirectory(), 'messages.json')
  writeFileSync(file, JSON.stringify({ content: { messages: { authorization: { mti: '0200' } } } }))
  const sales = await createCardsRig({
    ...{ timeoutMs: 250, windowMs: 700, database: rig.database },
    networkA: { port: network.port, stop: () => undefined },
    environment: { CARDGW_NETA_MESSAGES_FILE: file },
  })
  for (const isNamed of [true, false]) {
    const { held, tell } = contradicting()
    const id = await authorize({}, sales)
    const { rrn } = (await (await sales.get(`/v1/transactions/${id}`)).json()) as { rrn: string }
    tell(isNamed ? rrn : undefined)
    await until(() => held.size === 0)
    expect(await sales.settled(id)).toMatchObject({ status: 'declined' })
  }
})
