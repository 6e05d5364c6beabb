/** Kills while payments are reported, asked back and given back: by the books of all sides, money went back once. */
import { expect, test } from 'bun:test'
import {
  acceptingPsp,
  type CentralBank,
  createCentralBank,
  payingPsp,
} from '../../src/simulators/central-bank/index.ts'
import { createDirectory, type Directory } from '../../src/simulators/directory/index.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase } from '../support/database.ts'
import { transfer } from '../support/participant.ts'
import { seed } from '../support/seed.ts'
import { until } from '../support/until.ts'
import { createGateway, type Gateway, ispb } from './pix-gateway.ts'

const isLong = process.env['TRILHO_LONG'] === '1'
const kills = isLong ? 50 : 2
const settleMs = isLong ? 600_000 : 180_000
const [reportsBase, refundsBase] = ['/v1/dict/infraction-reports', '/v1/dict/refunds']
const flaw = { reason: 'OPERATIONAL_FLAW', details: 'Pago duas vezes' }
const fraud = { reason: 'FRAUD', details: undefined }
const scam = { reason: 'REFUND_REQUEST', situation: 'SCAM' }
const agreed = { result: 'AGREED', fraud_type: 'SCAMMER_ACCOUNT' } as const
const answers = [
  { result: 'TOTALLY_ACCEPTED' },
  { result: 'PARTIALLY_ACCEPTED', amount: 300 },
  { result: 'REJECTED', rejection_reason: 'NO_BALANCE' },
]
const centsOf = [700n, 300n, 0n]

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as they come
type Json = any

type Sides = {
  readonly gateway: Gateway
  readonly bank: CentralBank
  readonly directory: Directory
}

const operationOf = (bank: CentralBank, id: string) =>
  bank.book().operations.find((one) => one.id === id)

const settled = (bank: CentralBank, id: string): Promise<void> =>
  until(() => operationOf(bank, id)?.state === 'settled', settleMs, `payment ${id}`)

/** The dispute about a payment, once the gateway has it in a status. @returns its id */
const waitFor = async (
  { gateway }: Sides,
  base: string,
  transactionId: string,
  status: string,
): Promise<string> => {
  let id = ''
  const isThere = async (): Promise<boolean> => {
    const { json } = await gateway.operate('GET', `${base}?transaction_id=${transactionId}`)
    const [found] = Object.values(json as Json)[0] as Json[]
    id = found?.id ?? ''
    return found?.status === status
  }
  await until(isThere, settleMs, `${base} ${transactionId} ${status}`)
  return id
}

/** Whoever learns nothing asks again, and others ask too. */
const askAtOnce = async (
  { gateway }: Sides,
  path: string,
  body: object,
  allowed: readonly number[],
): Promise<void> => {
  const keys = ['a', 'a', 'b'].map((key) => `${path}${key}`)
  const all = await Promise.all(keys.map((key) => gateway.operate('POST', path, body, key)))
  for (const { status, json } of all) {
    expect([path, allowed.includes(status), json]).toEqual([path, true, json])
  }
}

type Asked = { readonly transactionId: string; readonly cents: bigint }

/** They pay us, report it or find it flawed, and ask for it back, which is granted whole, in part, or not. */
const askedOf = async (sides: Sides, n: number): Promise<Asked> => {
  const { bank, directory } = sides
  const { infractions, refunds } = directory.disputes
  const transactionId = bank.payIn({ to: ispb, amountCents: 1_000n })
  await settled(bank, transactionId)
  const reported = async (): Promise<void> => {
    const report = { ...scam, transactionId, details: undefined, contact: undefined }
    infractions.create(report, payingPsp)
    const id = await waitFor(sides, reportsBase, transactionId, 'open')
    await askAtOnce(sides, `${reportsBase}/${id}/acknowledge`, {}, [200, 202, 409])
    await waitFor(sides, reportsBase, transactionId, 'acknowledged')
    await askAtOnce(sides, `${reportsBase}/${id}/close`, agreed, [200, 202, 409])
    await waitFor(sides, reportsBase, transactionId, 'closed')
  }
  const report = n % 2 === 0 ? reported() : undefined
  const isFraud = isLong && report !== undefined
  if (isFraud) await report
  refunds.create({ ...(isFraud ? fraud : flaw), transactionId, amountCents: 700n }, payingPsp)
  const id = await waitFor(sides, refundsBase, transactionId, 'open')
  const answer = answers[n % answers.length] ?? {}
  await askAtOnce(sides, `${refundsBase}/${id}/close`, answer, [200, 202, 409])
  await Promise.all([waitFor(sides, refundsBase, transactionId, 'closed'), report])
  return { transactionId, cents: centsOf[n % answers.length] ?? 0n }
}

type Asking = { readonly transactionId: string; readonly returnId: string | undefined }

const payOut = async ({ gateway, bank }: Sides, key: string): Promise<string> => {
  const body = { local_instrument: 'MANU', transactions: [transfer(ispb, acceptingPsp, 500)] }
  const sent = { message_type: 'PACS008', params: body }
  const { json } = await gateway.operate('POST', '/v1/spi/send', sent, key)
  const transactionId: string = (json as Json).end_to_end_ids[0]
  await settled(bank, transactionId)
  return transactionId
}

/** We pay them, report it or find it flawed, and ask for it back, which they grant, or which we take back. */
const askingFor = async (sides: Sides, n: number): Promise<Asking> => {
  const { gateway, bank, directory } = sides
  const { infractions, refunds } = directory.disputes
  const transactionId = await payOut(sides, `pay${n}`)
  const isFraud = n % 2 === 0
  const wish = async (base: string, body: object): Promise<void> => {
    const asked = { ...body, transaction_id: transactionId }
    const made = await gateway.operate('POST', base, asked, `${base}${n}`)
    expect([made.status, made.json]).toEqual([made.status === 201 ? 201 : 202, made.json])
    await waitFor(sides, base, transactionId, 'open')
  }
  const theirs = <T extends { readonly id: string; readonly transactionId: string }>(
    all: readonly T[],
  ): string => all.find((one) => one.transactionId === transactionId)?.id ?? ''
  if (isFraud) {
    await wish(reportsBase, scam)
    const id = theirs(infractions.all())
    infractions.acknowledge(id, acceptingPsp)
    const { result, fraud_type: fraudType } = agreed
    infractions.close(id, acceptingPsp, { result, fraudType, analysis: undefined })
  }
  await wish(refundsBase, { ...(isFraud ? fraud : flaw), amount: 500 })
  if (n % 3 === 2) {
    const id = await waitFor(sides, refundsBase, transactionId, 'open')
    await askAtOnce(sides, `${refundsBase}/${id}/cancel`, {}, [200, 202])
    await waitFor(sides, refundsBase, transactionId, 'cancelled')
    return { transactionId, returnId: undefined }
  }
  const returnId = bank.giveBack(transactionId, 500n, isFraud ? 'FR01' : 'BE08') ?? ''
  refunds.close(theirs(refunds.all()), acceptingPsp, {
    result: 'TOTALLY_ACCEPTED',
    analysis: undefined,
    rejectionReason: undefined,
    returnId,
    effectiveCents: undefined,
  })
  const id = await waitFor(sides, refundsBase, transactionId, 'closed')
  const hasCome = async (): Promise<boolean> => {
    const { json } = await gateway.operate('GET', `${refundsBase}/${id}`)
    return (json as Json).returned_at !== null && (json as Json).return_id === returnId
  }
  await until(hasCome, settleMs, 'the return of a refund')
  return { transactionId, returnId }
}

/** As gateway and directory have them; nothing waits for anybody. */
const booksOf = async (
  { gateway, directory }: Sides,
  base: string,
): Promise<readonly [here: readonly string[], there: readonly string[]]> => {
  const { infractions, refunds } = directory.disputes
  const all = base === refundsBase ? refunds.all() : infractions.all()
  const there = all.map(({ id, status, transactionId }) => `${id} ${status} ${transactionId}`)
  const here: string[] = []
  let next: string | null = ''
  while (next !== null) {
    const query: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`
    const { json } = await gateway.operate('GET', `${base}?limit=500${query}`)
    const { next_cursor: cursor, ...lists } = json as Json
    for (const one of Object.values(lists)[0] as Json[]) {
      expect(one).toMatchObject({ pending: null, refusal: null })
      here.push(`${one.directory_id} ${one.status.toUpperCase()} ${one.transaction_id}`)
    }
    next = cursor
  }
  return [here.sort(), there.sort()]
}

test(
  `${kills} kills during reports and refunds: each answered by one return, or none (seed ${seed})`,
  async () => {
    const pick = seeded(seed)
    const database = await createTestDatabase(4)
    const bank = await createCentralBank({
      longPollMs: 200,
      streamIdleMs: 1_000,
      settlementLimitMs: 300_000,
    })
    const directory = await createDirectory({
      category: 'A',
      transactions: (id) => {
        const one = operationOf(bank, id)
        if (one?.state !== 'settled') return undefined
        const { payer: debited, receiver: credited, amountCents, settledAt } = one
        return { id, debited, credited, amountCents, settledMs: Date.parse(settledAt ?? '') }
      },
    })
    const env = { DICT_URL: directory.url, DICT_POLL_SECONDS: '5', DICT_TIMEOUT: '1' }
    const gateway = await createGateway(database, bank, env)
    const sides = { gateway, bank, directory }
    try {
      const theirs: Promise<Asked>[] = []
      const ours: Promise<Asking>[] = []
      for (let kill = 0; kill < kills; kill++) {
        bank.setFaults([{ kind: 'error_after_storing', operation: 'send', probability: 0.05 }])
        directory.setFaults([
          { kind: 'error_after_storing', operation: 'write', probability: 0.2 },
          { kind: 'unavailable', probability: 0.1 },
        ])
        for (const n of [0, 1, 2]) theirs.push(askedOf(sides, 3 * kill + n))
        ours.push(askingFor(sides, kill))
        await Bun.sleep(1_000 + pick(isLong ? 10_000 : 3_000))
        await gateway.kill(kill % 2 === 0 ? 'rest' : 'api')
      }
      bank.setFaults([])
      directory.setFaults([])
      const [back, come] = await Promise.all([Promise.all(theirs), Promise.all(ours)])

      for (const base of [reportsBase, refundsBase]) {
        const isSame = async (): Promise<boolean> => Bun.deepEquals(...(await booksOf(sides, base)))
        await until(isSame, settleMs, `the same ${base} here and there`)
      }
      const { refunds } = directory.disputes
      expect(refunds.all()).toHaveLength(back.length + come.length)
      const { operations, balanced } = bank.book()
      expect(balanced).toBe(true)
      for (const { transactionId, cents } of back) {
        const made = operations.filter(
          ({ kind, endToEndId, state }) =>
            kind === 'return' && endToEndId === transactionId && state !== 'rejected',
        )
        expect(made.map(({ amountCents }) => amountCents)).toEqual(cents === 0n ? [] : [cents])
        const there = refunds.all().find((one) => one.transactionId === transactionId)
        expect(there?.returnId).toBe(made[0]?.id)
      }
      expect(await database.sql`select from broker_dead_letters`).toHaveLength(0)
    } finally {
      await gateway[Symbol.asyncDispose]()
      await directory.stop()
      await bank.stop()
      await database.close()
    }
  },
  300_000 + kills * 40_000,
)
