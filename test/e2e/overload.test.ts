/** Twice what each rail may do at once, over sockets: half is refused while the other half waits, and nothing is lost. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { transfer } from '../support/participant.ts'
import { startWholeGateway, type WholeGateway } from '../support/whole-gateway.ts'

const atOnce = 12

let gateway: WholeGateway
let from: string
let to: string

beforeAll(async () => {
  gateway = await startWholeGateway({
    TRILHO_CONCURRENCY_SPI: String(atOnce),
    TRILHO_CONCURRENCY_CARDS: String(atOnce),
    TRILHO_CONCURRENCY_DREX: String(atOnce),
  })
  ;[from = '', to = ''] = await gateway.rig.wallets(2, 100_000n)
})
afterAll(() => gateway[Symbol.asyncDispose]())

type Rail = {
  readonly path: string
  readonly body: () => unknown
  readonly status: number
  /** Where each is written, and nothing else is. */
  readonly table: string
}

const rails: Readonly<Record<string, Rail>> = {
  'instant payments': {
    path: '/v1/spi/send',
    body: () => ({
      message_type: 'PACS008',
      params: { local_instrument: 'MANU', transactions: [transfer('12345678', '87654321', 100)] },
    }),
    status: 202,
    table: 'spi_transactions',
  },
  cards: {
    path: '/v1/transactions/authorize',
    body: () => ({
      card_token: 'tok_visa_approved',
      amount: 10_000,
      currency: 'BRL',
      merchant_id: 'MERCHANT000001',
    }),
    status: 201,
    table: 'card_transactions',
  },
  'digital currency': {
    path: '/v1/drex/transfers',
    body: () => ({ from_wallet: from, to_wallet: to, amount: '0.01' }),
    status: 202,
    table: 'drex_transfers',
  },
}

/** A connection of its own for each, as callers who do not know of one another have. */
const ask = ({ path, body }: Rail): Promise<Response> =>
  fetch(gateway.rig.url + path, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${gateway.rig.key}`,
      'Content-Type': 'application/json',
      Connection: 'close',
    },
    body: JSON.stringify(body()),
  })

for (const [name, rail] of Object.entries(rails)) {
  test(`${name}: what is more than may run is refused at once, the rest is done once`, async () => {
    const { sql } = gateway.database
    const countOf = async () => {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from ${sql(rail.table)}`
      return row?.count ?? 0
    }
    const before = await countOf()
    const ended: Response[] = []
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const lock = Promise.withResolvers<void>()
    const holding = sql.begin(async (tx) => {
      await tx`lock table ${tx(rail.table)} in access exclusive mode`
      lock.resolve()
      await held
    })
    await lock.promise
    const asked = Array.from({ length: 2 * atOnce }, async () => {
      const response = await ask(rail)
      ended.push(response)
      return response
    })
    try {
      while (ended.length < atOnce) await Bun.sleep(5)
      expect(new Set(ended.map(({ status }) => status))).toEqual(new Set([503]))
      for (const refused of ended) {
        expect(refused.headers.get('Retry-After')).toBe('1')
        expect(JSON.stringify(await refused.json())).toMatch(/overloaded.*"sent":false/i)
      }
      // Other rails have rooms of their own, and who watches is answered.
      for (const path of ['/health', '/metrics']) {
        expect((await fetch(gateway.rig.url + path)).status).toBe(200)
      }
      for (const other of Object.values(rails)) {
        if (other !== rail) expect((await ask(other)).status).toBe(other.status)
      }
    } finally {
      release()
      await holding
    }
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter((status) => status === rail.status)).toHaveLength(atOnce)
    expect(await countOf()).toBe(before + atOnce)
    expect((await ask(rail)).status).toBe(rail.status)
  })
}
