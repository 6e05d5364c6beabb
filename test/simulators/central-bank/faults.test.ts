import { afterEach, describe, expect, test } from 'bun:test'
import {
  acceptingPsp,
  type CentralBank,
  type CentralBankOptions,
  createCentralBank,
  type Fault,
} from '../../../src/simulators/central-bank/index.ts'
import { createRandom } from '../../support/mutations.ts'
import {
  answerTo,
  build,
  createParticipant,
  type Participant,
  payment,
} from '../../support/participant.ts'
import { issueCertificate } from '../../support/pki.ts'
import { until } from '../../support/until.ts'

const bankA = '11111111'
const bankB = '22222222'
const xml = 'application/xml; charset=utf-8'
let bank: CentralBank | undefined

const open = async (options: CentralBankOptions = {}) => {
  bank = await createCentralBank({ longPollMs: 100, ...options })
  const { url } = bank
  return { bank, a: createParticipant(url, bankA), b: createParticipant(url, bankB) }
}

afterEach(async () => {
  await bank?.stop()
  bank = undefined
})

describe('each fault', () => {
  test('an error after storing: the message is settled, and sending it again changes nothing', async () => {
    const { a, bank } = await open()
    bank.setFaults([{ kind: 'error_after_storing', operation: 'send', times: 1 }])
    const message = payment(bankA, acceptingPsp, 100)
    expect((await a.post(message, xml)).status).toBe(500)
    expect((await a.post(message, xml)).status).toBe(201)
    const [report] = await a.receive()
    expect(report?.xml).toContain('ACSC')
    expect(bank.book().operations).toHaveLength(1)
  })

  test('unavailable and rate_limited: nothing is stored', async () => {
    const { a, bank } = await open()
    bank.setFaults([
      { kind: 'unavailable', times: 1 },
      { kind: 'rate_limited', times: 1 },
    ])
    expect((await a.post(payment(bankA, bankB, 1), xml)).status).toBe(503)
    const limited = await a.post(payment(bankA, bankB, 1), xml)
    expect([limited.status, limited.headers.get('Retry-After')]).toEqual([429, '1'])
    expect(bank.statistics().received).toEqual({})
  })

  test('cut: half of the batch comes, and all of it again on the same read', async () => {
    const { a, b, bank } = await open()
    const { next } = await b.read(b.start)
    bank.setFaults([{ kind: 'cut', operation: 'read', times: 1 }])
    await a.send(payment(bankA, bankB, 1))
    await expect(b.read(next)).rejects.toThrow()
    expect((await b.read(next)).received).toHaveLength(1)
  })

  test('refused connections end when the fault does', async () => {
    const { a, bank } = await open()
    bank.setFaults([{ kind: 'refuse_connections', times: 2 }])
    await expect(a.send(payment(bankA, bankB, 1))).rejects.toThrow()
    bank.setFaults([{ kind: 'refuse_connections', operation: 'send' }])
    await expect(a.send(payment(bankA, bankB, 1))).rejects.toThrow()
    expect((await a.read(a.start)).status).toBe(204)
    bank.setFaults([])
    await a.send(payment(bankA, bankB, 1))
  })

  test('latency: the answer is late by as much', async () => {
    const { a, bank } = await open()
    bank.setFaults([{ kind: 'latency', delayMs: 60, channel: 'primary', times: 1 }])
    const startedAt = performance.now()
    await a.send(payment(bankA, bankB, 1))
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(55)
  })

  test('duplicate: the same PI-ResourceId once more', async () => {
    const { a, b, bank } = await open()
    bank.setFaults([{ kind: 'duplicate', times: 1 }])
    await a.send(payment(bankA, bankB, 1))
    const [first, again] = await b.receive(2)
    expect(again?.resourceId).toBe(first?.resourceId ?? '')
    expect(again?.xml).toBe(first?.xml ?? '')
  })

  test('reorder: a later message first, by the seed', async () => {
    const { a, b, bank } = await open({ random: () => 0 })
    bank.setFaults([{ kind: 'reorder' }])
    await a.sendAll([1, 2, 3].map((cents) => payment(bankA, bankB, cents)))
    const received = await b.receive(3)
    const amounts = received.map(({ xml }) => /IntrBkSttlmAmt Ccy="BRL">(.*?)</.exec(xml)?.[1])
    expect(amounts).not.toEqual(['0.01', '0.02', '0.03'])
    expect(amounts.sort()).toEqual(['0.01', '0.02', '0.03'])
  })
})

describe('control endpoints', () => {
  const control = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${bank?.url}/simulator/${path}`, init)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const put = (faults: unknown) =>
    control('faults', { method: 'PUT', body: JSON.stringify(faults) })

  test('faults are set and shown; what is none is refused', async () => {
    const { a } = await open()
    const fault = { kind: 'unavailable', operation: 'send', probability: 1, times: 1 }
    expect(await put([fault])).toEqual({ status: 200, body: [fault] as never })
    expect((await a.post(payment(bankA, bankB, 1), xml)).status).toBe(503)
    expect((await control('faults')).body).toEqual([] as never)
    expect((await put([{ kind: 'earthquake' }])).status).toBe(400)
    expect((await put([{ kind: 'cut', probability: 2 }])).status).toBe(400)
    expect((await put([{ kind: 'reorder', operation: 'send' }])).status).toBe(400)
    expect((await put([{ kind: 'charge_unpaid', operation: 'read' }])).status).toBe(400)
    expect((await put('x')).status).toBe(400)
    const late = { kind: 'latency', operation: 'send', delayMs: 600_000, times: 1 }
    expect((await put(Array.from({ length: 100 }, () => late))).status).toBe(200)
    expect((await put(Array.from({ length: 101 }, () => late))).status).toBe(400)
    expect((await put([{ ...late, delayMs: 600_001 }])).status).toBe(400)
    expect((await control('faults')).body).toHaveLength(100)
    expect((await control('nothing')).status).toBe(404)
  })

  test('book and statistics', async () => {
    const { a } = await open({ openingBalanceCents: 1_000n })
    await a.send(payment(bankA, acceptingPsp, 400))
    await a.receive()
    const { body } = await control('book')
    expect(body['balanced']).toBe(true)
    expect(body['accounts']).toContainEqual({ ispb: bankA, available: '600', held: '0' })
    expect(body['operations']).toEqual([
      expect.objectContaining({
        payer: bankA,
        receiver: acceptingPsp,
        amountCents: '400',
        state: 'settled',
      }),
    ])
    const { body: statistics } = await control('statistics')
    expect(statistics['operations']).toEqual({ waiting: 0, settled: 1, rejected: 0 })
    expect(statistics['received']).toMatchObject({ 'pacs.008': 1 })
  })

  test('payments on demand are bounded', async () => {
    await open()
    const pay = (body: object) => control('pay-in', { method: 'POST', body: JSON.stringify(body) })
    expect((await pay({ to: 'nobody', amount_cents: 1 })).status).toBe(400)
    expect((await pay({ to: bankA, amount_cents: 0 })).status).toBe(400)
    expect((await pay({ to: bankA, amount_cents: 1, count: 100_001 })).status).toBe(400)
    expect(
      (await pay({ to: bankA, amount_cents: 1, count: 2 })).body['end_to_end_ids'],
    ).toHaveLength(2)
  })

  test('a full bank makes no message more, and says how many payments it has made', async () => {
    const { b } = await open({ limits: { waitingMessagesMax: 3 } })
    const { next } = await b.read(b.start)
    const ask = (path: string, body: object) =>
      control(path, { method: 'POST', body: JSON.stringify(body) })
    const paid = await ask('pay-in', { to: bankB, amount_cents: 1, count: 5 })
    expect([paid.status, paid.body['error']]).toEqual([503, 'full'])
    expect(paid.body['end_to_end_ids']).toHaveLength(3)
    expect(await ask('mandate', { to: bankB })).toEqual({ status: 503, body: { error: 'full' } })
    expect((await b.read(next)).received).toHaveLength(3)
    expect((await ask('pay-in', { to: bankB, amount_cents: 1 })).status).toBe(201)
  })

  test('signing counts: what is being signed waits, too', async () => {
    const { cert, key } = issueCertificate('bank')
    const { bank: signing } = await open({
      limits: { waitingMessagesMax: 3 },
      signing: { certificate: cert, key },
    })
    const body = JSON.stringify({ to: bankB, amount_cents: 1, count: 5 })
    const paid = await control('pay-in', { method: 'POST', body })
    expect([paid.status, (paid.body['end_to_end_ids'] as string[]).length]).toEqual([503, 3])
    expect(signing.book().operations).toHaveLength(3)
  })

  test('many payments leave others their turn', async () => {
    await open()
    const order: string[] = []
    const body = JSON.stringify({ to: bankB, amount_cents: 1, count: 10_000 })
    const paid = control('pay-in', { method: 'POST', body }).then(() => order.push('paid'))
    const asked = control('faults').then(() => order.push('asked'))
    await Promise.all([paid, asked])
    expect(order).toEqual(['asked', 'paid'])
  })

  test('load stops while the bank is full', async () => {
    const { bank: loaded, b } = await open({
      limits: { waitingMessagesMax: 3 },
      payIn: { to: bankB, perSecond: 1_000 },
    })
    await b.read(b.start)
    await until(() => loaded.statistics().mailboxes[0]?.waiting === 3)
    const paid = loaded.book().operations.length
    await Bun.sleep(100)
    expect(loaded.book().operations).toHaveLength(paid)
  })
})

const storms: readonly Fault[] = [
  { kind: 'latency', probability: 0.05, delayMs: 3 },
  { kind: 'unavailable', probability: 0.05 },
  { kind: 'rate_limited', probability: 0.05 },
  { kind: 'error_after_storing', probability: 0.1 },
  { kind: 'cut', probability: 0.1 },
  { kind: 'duplicate', probability: 0.1 },
  { kind: 'reorder', probability: 0.2 },
]

/** Sends the same bytes until they are stored. */
const insist = async (participant: Participant, message: Uint8Array): Promise<void> => {
  for (let tries = 0; tries < 50; tries++) {
    const response = await participant.post(message, xml).catch(() => undefined)
    if (response?.status === 201) return
  }
  throw new Error('never stored')
}

/** Reads until told to stop, through every fault; opens another stream where one is gone. */
const follow = async (
  participant: Participant,
  take: (received: Awaited<ReturnType<Participant['read']>>['received'][number]) => Promise<void>,
  goOn: () => boolean,
): Promise<void> => {
  let position = participant.start
  const seen = new Set<string>()
  while (goOn()) {
    const reading = await participant.read(position).catch(() => undefined)
    if (reading === undefined || reading.status >= 429) continue
    if (reading.next === '') {
      position = participant.start
      continue
    }
    for (const each of reading.received) {
      if (seen.has(each.resourceId)) continue
      seen.add(each.resourceId)
      await take(each)
    }
    position = reading.next
  }
}

describe('random walks through storms', () => {
  for (const seed of [1, 2, 3]) {
    test(`no money is made or lost, and everyone believes what the book says (seed ${seed})`, async () => {
      const random = createRandom(seed)
      const opening = 5_000n
      const { bank, a, b } = await open({
        openingBalanceCents: opening,
        settlementLimitMs: 400,
        streamIdleMs: 150,
        longPollMs: 20,
        random: () => random.next(1_000_000) / 1_000_000,
      })
      bank.setFaults(storms)
      const everyone = [a, b]
      const told = new Map<string, string>()
      let done = false
      const take =
        (self: Participant) => async (each: Parameters<Parameters<typeof follow>[1]>[0]) => {
          const { message } = each
          if (message?.type === 'pacs.002') {
            for (const item of message.transactions) {
              const key = `${self.ispb} ${item.originalInstructionId}`
              expect(told.get(key) ?? item.status).toBe(item.status)
              told.set(key, item.status)
            }
            return
          }
          const choice = random.next(10)
          if (choice === 0) return
          await insist(self, answerTo(self.ispb, each, choice < 3 ? 'RJCT' : 'ACSP'))
          if (choice === 3) await insist(self, answerTo(self.ispb, each, 'RJCT'))
        }
      const readers = everyone.map((self) => follow(self, take(self), () => !done))
      const sent: string[] = []
      for (let step = 0; step < 40; step++) {
        const from = random.pick(everyone)
        const to = random.pick([bankA, bankB, acceptingPsp].filter((ispb) => ispb !== from.ispb))
        const settled = bank
          .book()
          .operations.filter(
            ({ kind, receiver, state }) =>
              kind === 'payment' && receiver === from.ispb && state === 'settled',
          )
        const original =
          settled.length > 0 && random.next(3) === 0 ? random.pick(settled) : undefined
        const message =
          original === undefined
            ? payment(from.ispb, to, 1 + random.next(2_000))
            : build(from.ispb, 'PACS004', {
                original_end_to_end_id: original.id,
                amount: 1 + random.next(Number(original.amountCents)),
                return_reason: 'MD06',
                receiving_ispb: original.payer,
              })
        sent.push(/<(?:EndToEndId|RtrId)>(.*?)</.exec(Buffer.from(message).toString())?.[1] ?? '')
        if (random.next(8) === 0) bank.payIn({ to, amountCents: BigInt(1 + random.next(500)) })
        await insist(from, message)
        expect(bank.book().balanced).toBe(true)
      }
      bank.setFaults([])
      const deadline = Date.now() + 40_000
      const isOver = () => {
        const { operations, mailboxes } = bank.statistics()
        const isRead = mailboxes.every((each) => each.waiting + each.unconfirmed === 0)
        return operations.waiting === 0 && isRead
      }
      while (!isOver() && Date.now() < deadline) await Bun.sleep(10)
      expect(isOver()).toBe(true)
      done = true
      await Promise.all(readers)
      const { accounts, operations, balanced } = bank.book()
      expect(balanced).toBe(true)
      expect(sent.filter((id) => !operations.some((operation) => operation.id === id))).toEqual([])
      for (const self of everyone) {
        let expected = opening
        for (const { id, payer, receiver, amountCents, state } of operations) {
          expect(state).not.toBe('waiting')
          const belief = told.get(`${self.ispb} ${id}`)
          if (payer === self.ispb) {
            expect([id, belief]).toEqual([id, state === 'settled' ? 'ACSC' : 'RJCT'])
          }
          if (receiver === self.ispb && state === 'settled')
            expect([id, belief]).toEqual([id, 'ACCC'])
          if (state !== 'settled') continue
          if (payer === self.ispb) expected -= amountCents
          if (receiver === self.ispb) expected += amountCents
        }
        expect(accounts).toContainEqual({ ispb: self.ispb, available: expected, held: 0n })
      }
    }, 60_000)
  }
})
