/** Every screen, before rows whose every free text does harm where it is not shown as text. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { deadLetterHeaders } from '#src/platform/broker/index.ts'
import { insertMessages } from '#src/spi/messages/index.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { message } from '../spi/messages/support.ts'
import { hasBrowser } from '../support/browser.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import type { GatewayHere } from '../support/gateway-here.ts'
import { pacs008 } from '../support/messages.ts'
import { until } from '../webhooks/support.ts'
import { hostile, openConsole, type SeenConsole, settled, signIn } from './visit.ts'

/** What people, counterparties and nodes put into words, by table: whatever a page shows of them is shown as text. */
const freeTexts: Readonly<Record<string, readonly string[]>> = {
  api_keys: ['name'],
  audit_log: ['action', 'actor', 'object', 'outcome'],
  broker_dead_letters: ['key'],
  card_transactions: [
    'merchant_id',
    'terminal_id',
    'reference',
    'auth_code',
    'response_code',
    'rrn',
  ],
  drex_contracts: ['label', 'template', 'deployer'],
  drex_transactions: ['error', 'subject', 'created_by'],
  drex_transfers: ['reference', 'created_by', 'approved_by'],
  drex_wallets: ['label', 'key_name', 'created_by'],
  spi_history: ['detail'],
  spi_messages: ['biz_msg_idr', 'error_code', 'resource_id'],
  spi_transactions: ['reason', 'refusal'],
  webhook_attempts: ['answer', 'error_class'],
  webhook_endpoints: ['url', 'disabled_reason'],
  webhook_events: ['type', 'subject'],
}

const shownMin = 40

describe.skipIf(!hasBrowser)('hostile text in Chromium (needs /usr/bin/chromium)', () => {
  let seen: SeenConsole
  let gateway: GatewayHere
  let operator = ''

  beforeAll(async () => {
    seen = await openConsole()
    gateway = seen.gateway
    operator = await gateway.keyOf({ name: 'operator' })
  })
  afterAll(() => seen?.[Symbol.asyncDispose]())

  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const answer = await fetch(gateway.urls.httpUrl + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${operator}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect([path, answer.ok]).toEqual([path, true])
    return (await answer.json()) as Record<string, string>
  }

  /** One of everything, and the addresses of the pages that show it. */
  const seed = async (): Promise<readonly string[]> => {
    const { sql } = gateway.database
    const endpoint = await post('/v1/webhooks', {
      ...{ url: 'http://127.0.0.1:9/', events: ['card.*', 'drex.*'] },
    })
    const card = await post('/v1/transactions/authorize', authorizationBody('tok_visa_approved'))
    const wallet = await post('/v1/wallets', { type: 'managed', label: 'browser' })
    const other = await post('/v1/wallets', { type: 'managed', label: 'browser' })
    await gateway.issuer.fund(wallet['address'] as Hex, 100n)
    const transfer = await post('/v1/drex/transfers', {
      ...{ from_wallet: wallet['address'], to_wallet: other['address'], amount: '1.00' },
    })
    const xml = pacs008().replace('Pedido 42', hostile.replaceAll('<', '&lt;'))
    const stored = message({ xml: Buffer.from(xml) })
    await insertMessages(sql, [stored])
    await sql`
      insert into broker_dead_letters (key, headers, value)
      values ('k', ${sql.json({ [deadLetterHeaders.errorCode]: hostile, [deadLetterHeaders.topic]: 'spi.outbound' })}, 'x')`
    const attempts = () => sql<{ id: string }[]>`select delivery_id as id from webhook_attempts`
    await until(async () => (await attempts()).length > 0)
    const [attempt] = await attempts()
    const [contract] = await sql`select address from drex_contracts limit 1`
    return [
      ...['', '/payments?rail=spi', '/payments?rail=cards', '/payments?rail=drex', '/cards'],
      ...['/currency?show=wallets', '/currency?show=contracts', '/currency?show=lanes'],
      ...['/attention', '/webhooks', '/certificates', '/keys', '/tools', '/audit', '/pix-keys'],
      `/payments/cards/${card['id']}`,
      `/payments/drex/${transfer['transfer_id']}`,
      `/payments/spi/${stored.id}`,
      `/webhooks/${endpoint['id']}`,
      `/webhooks/${endpoint['id']}/${attempt?.id}`,
      `/currency/wallets/${wallet['wallet_id']}`,
      `/currency/contracts/${contract?.['address']}`,
    ]
  }

  test('is text on every screen', async () => {
    const { sql } = gateway.database
    const paths = await seed()
    for (const [table, columns] of Object.entries(freeTexts)) {
      for (const column of columns) {
        const { count } = await sql`update ${sql(table)} set ${sql(column)} = ${hostile}`
        expect([table, column, count > 0]).toEqual([table, column, true])
      }
    }
    const one = await seen.visit()
    const { page, problems } = one
    await signIn(one, operator)
    let shown = 0
    for (const path of paths) {
      await page.goto(`${seen.url}/console${path}`)
      await settled(page)
      shown += await page.getByText(hostile).count()
      expect([path, await page.locator('main img, main script').count()]).toEqual([path, 0])
    }
    // Else the pages have shown none of it, and the test has seen nothing.
    expect(shown).toBeGreaterThan(shownMin)
    expect(problems).toEqual([])
    await page.context().close()
  }, 120_000)
})
