/** Kills while charges are made, paid, told of and given back: by the books of both sides each happened once. */
import { expect, test } from 'bun:test'
import { type CentralBank, createCentralBank } from '../../src/simulators/central-bank/index.ts'
import { seeded } from '../support/contract-bench.ts'
import { createTestDatabase } from '../support/database.ts'
import { seed } from '../support/seed.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../webhooks/support.ts'
import { createGateway, type Gateway, ispb } from './pix-gateway.ts'

const kills = process.env['TRILHO_LONG'] === '1' ? 50 : 2
const chargesPerKill = 6
const taxId = '12345678000195'
const chave = 'padaria@example.com'
const settleMs = 120_000
/** While processes are killed one after the other, what they do stands still for as long as they take to start. */
const saleMs = settleMs + kills * 10_000

/** A sale: a charge, paid once or twice over, and given back whole by a clerk who asks for too much at once. */
const sell = async (gateway: Gateway, bank: CentralBank, txid: string, isTwice: boolean) => {
  const body = { calendario: { expiracao: 3_600 }, valor: { original: '37.00' }, chave }
  const made = await gateway.pix('PUT', `/cob/${txid}`, body)
  expect(made.status).toBe(201)
  const charge = { txid, taxId, key: chave }
  for (const _ of isTwice ? [1, 2] : [1]) bank.payIn({ to: ispb, amountCents: 3_700n, charge })
  const paid = async () => (await gateway.pix('GET', `/cob/${txid}`)).json
  await until(async () => (await paid())['status'] === 'CONCLUIDA', saleMs, `payment of ${txid}`)
  const [pix] = (await paid())['pix'] as readonly { readonly endToEndId: string }[]
  const giveBack = async (id: string, valor: string) => {
    const path = `/pix/${pix?.endToEndId}/devolucao/${id}`
    return (await gateway.pix('PUT', path, { valor })).status
  }
  const two = await Promise.all([giveBack('a', '20.00'), giveBack('b', '20.00')])
  expect(two.sort()).toEqual([201, 400])
  expect(await giveBack('c', '17.00')).toBe(201)
}

type Sold = {
  readonly status: string
  readonly pix: readonly {
    readonly endToEndId: string
    readonly valor: string
    readonly devolucoes: readonly {
      readonly rtrId: string
      readonly valor: string
      readonly status: string
    }[]
  }[]
}

test(
  `${kills} kills during charge, payment, webhook and return: each once, by the books of both sides (seed ${seed})`,
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
      const hook = await gateway.pix('PUT', `/webhook/${chave}`, { webhookUrl: shop.url })
      expect(hook.status).toBe(200)
      const sales: Promise<void>[] = []
      const txids: string[] = []
      for (let kill = 0; kill < kills; kill++) {
        bank.setFaults([
          { kind: 'error_after_storing', operation: 'send', probability: 0.05 },
          ...(['cut', 'duplicate', 'reorder'] as const).map((kind) => ({
            kind,
            probability: 0.05,
          })),
        ])
        for (let n = 0; n < chargesPerKill; n++) {
          const txid = `kill${kill}sale${n}`.padEnd(30, 'x')
          txids.push(txid)
          sales.push(sell(gateway, bank, txid, n % 3 === 0))
        }
        await Bun.sleep(pick(1_500))
        await gateway.kill(kill % 2 === 0 ? 'rest' : 'api')
      }
      bank.setFaults([])
      await Promise.all(sales)
      const readAll = () =>
        Promise.all(
          txids.map(async (txid) => (await gateway.pix('GET', `/cob/${txid}`)).json as Sold),
        )
      const isOver = ({ pix }: Sold): boolean =>
        pix.every(({ devolucoes }) => devolucoes.every(({ status }) => status === 'DEVOLVIDO'))
      await until(async () => (await readAll()).every(isOver), settleMs)
      await until(() => bank.statistics().operations.waiting === 0, settleMs)

      const { operations, balanced } = bank.book()
      expect(balanced).toBe(true)
      const settled = operations.filter(({ state }) => state === 'settled')
      const idsOf = (kind: string): readonly string[] =>
        settled
          .filter((one) => one.kind === kind)
          .map(({ id, endToEndId, amountCents }) => `${id} ${endToEndId} ${amountCents}`)
          .sort()
      const sold = await readAll()
      // Each charge has one Pix, and the second payment of one was refused.
      expect(sold.map(({ status, pix }) => [status, pix.length])).toEqual(
        txids.map(() => ['CONCLUIDA', 1]),
      )
      const all = sold.flatMap(({ pix }) => pix)
      expect(all.map(({ endToEndId }) => `${endToEndId} ${endToEndId} 3700`).sort()).toEqual([
        ...idsOf('payment'),
      ])
      const refused = operations.filter(({ state }) => state === 'rejected').map(({ code }) => code)
      expect(refused).toEqual(
        sales.filter((_, n) => (n % chargesPerKill) % 3 === 0).map(() => 'DUPL'),
      )
      // What was given back is what the central bank has moved, and never more than the original.
      const returns = all.flatMap(({ endToEndId, devolucoes }) =>
        devolucoes.map(({ rtrId, valor }) => `${rtrId} ${endToEndId} ${valor.replace('.', '')}`),
      )
      expect([...returns].sort()).toEqual([...idsOf('return')])
      expect(all.map(({ devolucoes }) => devolucoes.map(({ valor }) => valor).sort())).toEqual(
        txids.map(() => ['17.00', '20.00']),
      )
      // The shop is told of every Pix, at last with both returns.
      const told = () =>
        new Map(
          shop.received
            .flatMap(({ body }) => (JSON.parse(body) as Pick<Sold, 'pix'>).pix)
            .filter(
              ({ devolucoes = [] }) =>
                devolucoes.filter(({ status }) => status === 'DEVOLVIDO').length === 2,
            )
            .map((one) => [one.endToEndId, one]),
        )
      await until(() => told().size === txids.length, settleMs)
      // Each payment has one answer, and each return one message.
      const { received } = bank.statistics()
      expect(received['pacs.004']).toBe(returns.length)
      expect(received['refused']).toBeUndefined()
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
