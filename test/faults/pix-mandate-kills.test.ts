/** Kills while payers are asked, authorise and are charged: by the books of both sides each happened once. */
import { expect, test } from 'bun:test'
import {
  acceptingPsp,
  type CentralBank,
  createCentralBank,
} from '../../src/simulators/central-bank/index.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase } from '../support/database.ts'
import { seed } from '../support/seed.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../webhooks/support.ts'
import { createGateway, type Gateway, ispb } from './pix-gateway.ts'

const isLong = process.env['TRILHO_LONG'] === '1'
const kills = isLong ? 50 : 2
const mandatesPerKill = 4
const settleMs = 120_000
/** While processes are killed one after the other, what they do stands still for as long as they take to start. */
const stepMs = settleMs + kills * 10_000
const taxId = '12345678000195'
const chave = 'padaria@example.com'
const dayMs = 86_400_000

// Charges are asked for two to ten days ahead, and due in the recurrence's first month.
const dayIn = (days: number): string =>
  new Date(Date.now() + days * dayMs).toISOString().slice(0, 10)
const dueOn = dayIn(6)

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as they come
type Json = any

/** How the payer comes to authorise it: he is asked, reads its code, or reads it with that of a charge, which he pays. */
type Journey = 1 | 2 | 3
const journeys: readonly Journey[] = isLong ? [1, 2, 3, 1] : [1, 2, 1, 1]

type Subscription = {
  readonly txid: string
  readonly endToEndId: string
  /** The EndToEndId of the payment that it begins with. */
  readonly first: string | undefined
}

/** A subscription: agreed to, charged once, and paid or taken back. */
const subscribe = async (
  gateway: Gateway,
  bank: CentralBank,
  name: string,
  { journey, isTakenBack }: { readonly journey: Journey; readonly isTakenBack: boolean },
): Promise<Subscription> => {
  const made = async (path: string, body: object): Promise<Json> => {
    const { status, json } = await gateway.pix('POST', path, body, `${name}${path}`)
    expect([path, status, json]).toEqual([path, 201, json])
    return json
  }
  const read = async (path: string): Promise<Json> => (await gateway.pix('GET', path)).json
  const begun = name.padEnd(30, 'x')
  const { idRec, ...rec } = await made('/rec', {
    vinculo: { contrato: name, devedor: { cpf: '45164632481', nome: 'Fulano de Tal' } },
    calendario: { dataInicial: dueOn, periodicidade: 'MENSAL' },
    valor: { valorRec: '35.00' },
    politicaRetentativa: 'NAO_PERMITE',
    ...(journey === 3 && { ativacao: { dadosJornada: { txid: begun } } }),
  })
  let first: string | undefined
  if (journey === 1) {
    await made('/solicrec', {
      idRec,
      calendario: { dataExpiracaoSolicitacao: `${dayIn(5)}T12:00:00Z` },
      destinatario: { cpf: '45164632481', conta: '550689', ispbParticipante: acceptingPsp },
    })
  } else {
    const recebedor = { ...rec.recebedor, ispbParticipante: ispb }
    const shown = Buffer.from(JSON.stringify({ idRec, ...rec, recebedor })).toString('base64url')
    const read = { payload: `e30.${shown}.`, journey }
    const told = await fetch(`${bank.url}/simulator/authorize`, {
      method: 'POST',
      body: JSON.stringify(read),
    })
    expect(told.status).toBe(201)
  }
  if (journey === 3) {
    const body = { calendario: { expiracao: 3_600 }, valor: { original: '10.00' }, chave }
    expect((await gateway.pix('PUT', `/cob/${begun}`, body)).status).toBe(201)
    const charge = { txid: begun, taxId, key: chave }
    first = bank.payIn({ to: ispb, amountCents: 1_000n, charge })
  }
  await until(
    async () => (await read(`/rec/${idRec}`)).status === 'APROVADA',
    stepMs,
    `mandate of ${idRec}`,
  )
  const { txid } = await made('/cobr', {
    idRec,
    calendario: { dataDeVencimento: dueOn },
    valor: { original: '35.00' },
    recebedor: { conta: '12682', tipoConta: 'CORRENTE' },
  })
  const path = `/cobr/${txid}`
  await until(async () => (await read(path)).status === 'ATIVA', stepMs, `schedule of ${txid}`)
  const endToEndId: string = (await read(path)).tentativas[0].endToEndId
  if (isTakenBack) {
    // Asked again after a kill, it says that it is cancelled already.
    const { status } = await gateway.pix('PATCH', path, { status: 'CANCELADA' })
    expect([200, 400]).toContain(status)
    expect((await read(path)).status).toBe('CANCELADA')
  } else {
    expect(bank.payCharge(endToEndId)).toBe(true)
    await until(async () => (await read(path)).status === 'CONCLUIDA', stepMs, `payment of ${txid}`)
  }
  return { txid, endToEndId, first }
}

test(
  `${kills} kills during mandate and charge: each asked for, answered and paid once (seed ${seed})`,
  async () => {
    const pick = seeded(seed)
    const database = await createTestDatabase(4)
    const bank = await createCentralBank({
      longPollMs: 200,
      streamIdleMs: 1_000,
      settlementLimitMs: 300_000,
    })
    const shop = startReceiver()
    const gateway = await createGateway(database, bank)
    try {
      const receiver = {
        key: chave,
        account: 'default',
        tax_id: taxId,
        name: 'Padaria',
        city: 'Recife',
      }
      expect((await gateway.operate('PUT', '/v1/pix/receivers', receiver)).status).toBe(200)
      for (const path of ['/webhookrec', '/webhookcobr']) {
        const put = await gateway.pix('PUT', path, { webhookUrl: shop.url })
        expect(put.status).toBe(200)
      }
      const mandates: ReturnType<typeof subscribe>[] = []
      const journeyOf = (n: number) => journeys[n % mandatesPerKill]
      const isTakenBack = (n: number): boolean => n % mandatesPerKill === 0
      for (let kill = 0; kill < kills; kill++) {
        bank.setFaults([
          { kind: 'error_after_storing', operation: 'send', probability: 0.05 },
          ...(['cut', 'duplicate', 'reorder'] as const).map((kind) => ({
            kind,
            probability: 0.05,
          })),
        ])
        for (let n = 0; n < mandatesPerKill; n++) {
          const [journey = 1, name] = [journeys[n], `kill${kill}mandate${n}`]
          const how = { journey, isTakenBack: isTakenBack(n) }
          mandates.push(subscribe(gateway, bank, name, how))
        }
        await Bun.sleep(pick(2_500))
        await gateway.kill(kill % 2 === 0 ? 'rest' : 'api')
      }
      bank.setFaults([])
      const all = await Promise.all(mandates)
      const paid = all.filter((_, n) => !isTakenBack(n))
      const takenBack = all.filter((_, n) => isTakenBack(n))
      const { received } = bank.statistics()
      await until(() => (bank.statistics().received['camt.055'] ?? 0) >= takenBack.length, settleMs)

      // What was asked for was asked for once, however often a process began again.
      expect([received['pain.009'], received['pain.013'], received['camt.055']]).toEqual([
        all.filter((_, n) => journeyOf(n) === 1).length,
        all.length,
        takenBack.length,
      ])
      // Who reads a code is told that he may.
      expect(received['pain.012'] ?? 0).toBe(all.filter((_, n) => journeyOf(n) !== 1).length)
      expect(received['refused']).toBeUndefined()
      expect(takenBack.map(({ endToEndId }) => bank.payCharge(endToEndId))).toEqual(
        takenBack.map(() => false),
      )
      const { operations, balanced } = bank.book()
      expect(balanced).toBe(true)
      expect(
        operations.map(({ id, state, amountCents }) => `${id} ${state} ${amountCents}`).sort(),
      ).toEqual(
        [
          ...paid.map(({ endToEndId }) => `${endToEndId} settled 3500`),
          ...all.flatMap(({ first }) => (first === undefined ? [] : [`${first} settled 1000`])),
        ].sort(),
      )
      // Both sides agree about each charge, and the Pix is shown with it.
      for (const { txid, endToEndId } of paid) {
        const { json } = await gateway.pix('GET', `/cobr/${txid}`)
        expect(json).toMatchObject({
          status: 'CONCLUIDA',
          tentativas: [{ endToEndId, status: 'PAGA' }],
          pix: [{ endToEndId, txid, valor: '35.00' }],
        })
      }
      const told = (path: string, member: string, key: string, status: string) =>
        new Set(
          shop.received
            .filter((one) => one.path === path)
            .flatMap(({ body }) => (JSON.parse(body) as Json)[member])
            .filter((one: Json) => one.status === status)
            .map((one: Json) => one[key]),
        )
      await until(
        () => told('/hook/rec', 'recs', 'idRec', 'APROVADA').size === all.length,
        settleMs,
      )
      for (const [status, charges] of [
        ['CONCLUIDA', paid],
        ['CANCELADA', takenBack],
      ] as const) {
        // What a killed process was telling is told by another once its lease has run out.
        await until(
          () => told('/hook/cobr', 'cobsr', 'txid', status).size === charges.length,
          settleMs,
          `${charges.length} charges told as ${status}`,
        )
      }
      expect(await database.sql`select from broker_dead_letters`).toHaveLength(0)
    } finally {
      await gateway[Symbol.asyncDispose]()
      await shop.stop()
      await bank.stop()
      await database.close()
    }
  },
  240_000 + kills * 20_000,
)
