/** Kills while refunds are asked for, accepted and returned: by the books of all sides, money went back once. */
import { expect, test } from 'bun:test'
import {
  acceptingPsp,
  createCentralBank,
  payingPsp,
} from '../../src/simulators/central-bank/index.ts'
import { createDirectory } from '../../src/simulators/directory/index.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase } from '../support/database.ts'
import { transfer } from '../support/participant.ts'
import { until } from '../support/until.ts'
import { createGateway, type Gateway, ispb } from './pix-gateway.ts'

const kills = process.env['TRILHO_LONG'] === '1' ? 50 : 2
/** In the test's name, so that a failure can be repeated with TRILHO_SEED. */
const seed = Number(process.env['TRILHO_SEED'] ?? Date.now() % 2 ** 31)
const perKill = 3
const settleMs = 180_000
const base = '/v1/dict/refunds'
const flaw = { reason: 'OPERATIONAL_FLAW', details: 'Pago duas vezes' }

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as they come
type Json = any

/** The request about a payment, once the gateway has found it. */
const foundAs = async (gateway: Gateway, transactionId: string): Promise<string> => {
  let id: string | undefined
  await until(async () => {
    const { json } = await gateway.operate('GET', `${base}?transaction_id=${transactionId}`)
    id = (json as Json).refunds?.[0]?.id
    return id !== undefined
  }, settleMs)
  return id ?? ''
}

test(
  `${kills} kills during refund requests: each answered by one return, or none (seed ${seed})`,
  async () => {
    const pick = seeded(seed)
    const database = await createTestDatabase(4)
    const bank = await createCentralBank({
      ...{ longPollMs: 200, streamIdleMs: 1_000, settlementLimitMs: 300_000 },
    })
    const operation = (id: string) => bank.book().operations.find((one) => one.id === id)
    const directory = await createDirectory({
      category: 'A',
      transactions: (id) => {
        const one = operation(id)
        if (one?.state !== 'settled') return undefined
        const { payer: debited, receiver: credited, amountCents, settledAt } = one
        return { id, debited, credited, amountCents, settledMs: Date.parse(settledAt ?? '') }
      },
    })
    const { refunds } = directory.disputes
    const env = { DICT_URL: directory.url, DICT_POLL_SECONDS: '5' }
    const gateway = await createGateway(database, bank, env)
    try {
      /** They ask for a payment back, and it is given back in whole or in part, or not. */
      const asked = async (n: number) => {
        const transactionId = bank.payIn({ to: ispb, amountCents: 1_000n })
        await until(() => operation(transactionId)?.state === 'settled', settleMs)
        refunds.create({ ...flaw, transactionId, amountCents: 700n }, payingPsp)
        const id = await foundAs(gateway, transactionId)
        const answers = [
          { result: 'TOTALLY_ACCEPTED' },
          { result: 'PARTIALLY_ACCEPTED', amount: 300 },
          { result: 'REJECTED', rejection_reason: 'NO_BALANCE' },
        ]
        const answer = answers[n % answers.length]
        const path = `${base}/${id}/close`
        // Whoever learns nothing asks again, and others ask too.
        const all = await Promise.all(
          ['a', 'a', 'b'].map((key) => gateway.operate('POST', path, answer, `${id}${key}`)),
        )
        for (const { status } of all) expect([200, 202, 409]).toContain(status)
        return { transactionId, id, cents: [700n, 300n, 0n][n % answers.length] ?? 0n }
      }
      /** We ask for a payment back. */
      const asking = async (n: number) => {
        const body = { local_instrument: 'MANU', transactions: [transfer(ispb, acceptingPsp, 500)] }
        const key = `pay${n}`
        const sent = { message_type: 'PACS008', params: body }
        const { json } = await gateway.operate('POST', '/v1/spi/send', sent, key)
        const { json: shown } = await gateway.operate(
          'GET',
          `/v1/messages/${(json as Json).message_id}`,
        )
        const transactionId: string = (shown as Json).end_to_end_id
        await until(() => operation(transactionId)?.state === 'settled', settleMs)
        const wanted = { ...flaw, transaction_id: transactionId, amount: 500 }
        const made = await gateway.operate('POST', base, wanted, `refund${n}`)
        expect([201, 202]).toContain(made.status)
        const { id } = made.json as Json
        const there = () => refunds.all().filter((one) => one.transactionId === transactionId)
        await until(() => there().length > 0, settleMs)
        const returnId = bank.giveBack(transactionId, 500n, 'BE08')
        refunds.close(there()[0]?.id ?? '', acceptingPsp, {
          ...{ result: 'TOTALLY_ACCEPTED', analysis: undefined, rejectionReason: undefined },
          ...{ returnId, effectiveCents: undefined },
        })
        return { transactionId, id, returnId }
      }
      const theirs: ReturnType<typeof asked>[] = []
      const ours: ReturnType<typeof asking>[] = []
      for (let kill = 0; kill < kills; kill++) {
        bank.setFaults([{ kind: 'error_after_storing', operation: 'send', probability: 0.05 }])
        directory.setFaults([
          { kind: 'error_after_storing', operation: 'write', probability: 0.2 },
          { kind: 'unavailable', probability: 0.1 },
        ])
        for (let n = 0; n < perKill; n++) theirs.push(asked(n))
        ours.push(asking(kill))
        await Bun.sleep(3_000 + pick(9_000))
        await gateway.kill(kill % 2 === 0 ? 'rest' : 'api')
      }
      bank.setFaults([])
      directory.setFaults([])
      const [back, come] = await Promise.all([Promise.all(theirs), Promise.all(ours)])
      await until(() => refunds.all().every(({ status }) => status === 'CLOSED'), settleMs)

      const { operations, balanced } = bank.book()
      expect(balanced).toBe(true)
      const returnsOf = (id: string) =>
        operations.filter(({ kind, endToEndId }) => kind === 'return' && endToEndId === id)
      for (const { transactionId, id, cents } of back) {
        const made = returnsOf(transactionId).filter(({ state }) => state !== 'rejected')
        expect(made.map(({ amountCents }) => amountCents)).toEqual(cents === 0n ? [] : [cents])
        const [there] = refunds.all().filter((one) => one.transactionId === transactionId)
        expect(there?.returnId).toBe(made[0]?.id)
        await until(async () => {
          const { json } = await gateway.operate('GET', `${base}/${id}`)
          return (json as Json).status === 'closed'
        }, settleMs)
      }
      expect(refunds.all()).toHaveLength(back.length + come.length)
      for (const { id, returnId } of come) {
        await until(async () => {
          const { json } = await gateway.operate('GET', `${base}/${id}`)
          return (json as Json).returned_at !== null && (json as Json).return_id === returnId
        }, settleMs)
      }
      // Each was found once.
      const rows = await database.sql`select from dict_disputes`
      expect(rows).toHaveLength(back.length + come.length)
      expect(await database.sql`select from broker_dead_letters`).toHaveLength(0)
    } finally {
      await gateway[Symbol.asyncDispose]()
      await directory.stop()
      await bank.stop()
      await database.close()
    }
  },
  300_000 + kills * 15_000,
)
