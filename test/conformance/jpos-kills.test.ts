import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { createTestVault, testVaultKey } from '../../src/simulators/card-network/index.ts'
import { createCardGateway } from '../support/card-gateway.ts'
import { until } from '../support/card-network.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { createTestDatabase } from '../support/database.ts'
import { isJposHere, startJpos } from '../support/jpos.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until as untilSo } from '../support/until.ts'

setDefaultTimeout(180_000)

const note = isJposHere ? '' : ' [skipped: no java, no mvn or no jPOS to be had]'
/** jPOS acts on it in silence until it is repeated. */
const silent = 99_901

const messages = {
  advices: {
    operations: ['authorization', 'capture', 'refund', 'void'],
    floor_limits: { BRL: 100_000 },
  },
  reconciliation: { cut_over: 'network', wait_seconds: 0, batch_upload: 'always' },
}

/*
 * The gateway is killed while what it stored waits, while it is told, and while the day is uploaded; each time before it
 * has heard an answer. jPOS, which has acted, judges what the next process sends.
 */
describe.skipIf(!isJposHere)(`a gateway that is killed, before jPOS${note}`, () => {
  test('tells what it stored under its first numbers, and uploads the day once', async () => {
    const jpos = await startJpos()
    const database = await createTestDatabase(2)
    const { sql } = database
    const vault = createTestVault({ key: testVaultKey })
    const path = join(temporaryDirectory(), 'messages.json')
    await Bun.write(path, JSON.stringify(messages))
    const network = { port: () => jpos.port('advices') }
    const gateway = await createCardGateway({
      database,
      networks: [network, network],
      vaultUrl: vault.url,
      timeoutSeconds: 1,
      environment: {
        CARDGW_NETA_SIGN_ON: 'true',
        CARDGW_NETA_MESSAGES_FILE: path,
        CARDGW_NETA_CONNECT_WAIT_MS: '0',
        CARDGW_NETA_POOL_SIZE: '1',
      },
    })
    let number = 0
    const ask = async (status: number, path: string, body: unknown): Promise<string> => {
      const answer = await gateway.post(path, body, `key-${number++}`)
      expect([path, answer?.status]).toEqual([path, status])
      return answer?.id ?? ''
    }
    /** Kills it once jPOS has got so many of that message, which it does not answer. */
    const killAt = async (mti: string, count: number): Promise<void> => {
      const got = async () =>
        [...(await jpos.book('advices')).values()].flatMap((one) => one.messages.split(','))
      await untilSo(async () => (await got()).filter((one) => one === mti).length >= count)
      await gateway.end()
      await sql`update card_reversals set lease_until = now() where lease_until is not null`
      await sql`update card_reconciliations set lease_until = now() where lease_until is not null`
      await gateway.start()
    }
    const rrnOf = async (id: string): Promise<string> => {
      const [row] = await sql`select rrn from card_transactions where id = ${id}`
      return String(row?.['rrn'])
    }
    try {
      await gateway.start()
      // Ready is who reaches one network. What jPOS asks over a connection is answered once that has signed on.
      await untilSo(async () => {
        await jpos.ask('advices', '301')
        return jpos.count('advices got 0810 301 00') > 0
      })
      const authorize = (amount: number, capture: boolean) =>
        ask(201, '/authorize', authorizationBody('tok_visa_approved', { amount, capture }))
      const held = await authorize(100_000, false)
      const sold = await authorize(100_100, true)
      await jpos.ask('advices', '002')
      await until(() => jpos.count('advices got 0810 002 00') === 1, 'the network being away')
      await ask(202, `/${held}/capture`, { amount: silent })
      await ask(202, `/${sold}/refund`, { amount: 5_000 })
      await gateway.kill()
      await killAt('0220', 1)
      await untilSo(async () => {
        const open = await sql`
          select from card_transactions where status = 'pending' or operation is not null`
        return open.length === 0
      })
      const rrns = [await rrnOf(held), await rrnOf(sold)]
      const book = await jpos.book('advices')
      expect(rrns.map((rrn) => book.get(rrn))).toMatchObject([
        { captured: silent, refunded: 0, messages: '0100,0220,0221' },
        { captured: 100_100, refunded: 5_000 },
      ])
      const [open] =
        await sql`select to_char(day + 1, 'MMDD') as next from card_business_days where network = 'neta'`
      await jpos.ask('advices', `201:${open?.['next']}`)
      // The second of the day.
      await killAt('0320', 2)
      await untilSo(async () => {
        const ended = await sql`select from card_reconciliations where ended_at is not null`
        return ended.length > 0
      })
      const days = await sql`
        select status, upload, uploaded, uploads_refused as refused from card_reconciliations
        where ended_at is not null`
      expect([...days]).toEqual([{ status: 'balanced', upload: 'done', uploaded: 3, refused: 0 }])
      const told = [...(await jpos.book('advices')).values()].flatMap((one) =>
        one.messages.split(','),
      )
      const counted = (wanted: string): number => told.filter((mti) => mti === wanted).length
      // Two captures and a refund, none twice, and the silent one again as a repeat. What was stored as sent when the
      // gateway ended, and was not, is told as a repeat alone.
      expect(counted('0320')).toBeWithin(2, 4)
      expect(counted('0320') + counted('0321')).toBeGreaterThanOrEqual(4)
      expect(jpos.output()).not.toContain('advices failed')
    } finally {
      await gateway.end()
      await vault.stop()
      await database.close()
      expect(await jpos.stop()).toBe(0)
    }
  })
})
