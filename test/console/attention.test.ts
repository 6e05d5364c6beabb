/** What needs a person, and its acts, in a real browser. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { deadLetterHeaders } from '#src/platform/broker/index.ts'
import { hasBrowser } from '../support/browser.ts'
import type { GatewayHere } from '../support/gateway-here.ts'
import { pacs008 } from '../support/messages.ts'
import { hostile, openConsole, type SeenConsole, serious, settled, show, signIn } from './visit.ts'

describe.skipIf(!hasBrowser)('the console in Chromium (needs /usr/bin/chromium)', () => {
  let seen: SeenConsole
  let gateway: GatewayHere
  let url = ''
  let key = ''

  beforeAll(async () => {
    seen = await openConsole()
    ;({ gateway, url, key } = seen)
  })
  afterAll(() => seen?.[Symbol.asyncDispose]())

  const visit: SeenConsole['visit'] = (options) => seen.visit(options)

  test('what needs a person: a dead letter is handled again, another thrown away, both audited', async () => {
    const bury = async (errorCode: string): Promise<string> => {
      const headers = {
        [deadLetterHeaders.errorCode]: errorCode,
        [deadLetterHeaders.topic]: 'spi.outbound',
      }
      const [row] = await gateway.database.sql<{ id: string }[]>`
        insert into broker_dead_letters (key, headers, value)
        values (${hostile}, ${gateway.database.sql.json(headers)}, 'x') returning id::text`
      return row?.id ?? ''
    }
    const ids = [await bury('unreadable'), await bury(hostile)]
    key = await gateway.keyOf({ name: 'operator' })
    const one = await visit({ viewport: { width: 390, height: 844 } })
    const { page } = one
    await signIn(one, key)
    await page.getByRole('link', { name: 'Needs attention' }).click()
    const row = page.locator('.card.list tr')
    await row.first().waitFor({ state: 'attached' })
    await settled(page)
    expect(await serious(page)).toEqual([])
    // The stream tells of it sooner than the clock asks.
    const late = row.filter({ hasText: 'too late' })
    const lateId = await bury('too late')
    await late.waitFor({ timeout: 45_000 })
    await gateway.database.sql`delete from broker_dead_letters where id = ${lateId}`
    await late.waitFor({ state: 'detached', timeout: 45_000 })
    await row.filter({ hasText: 'unreadable' }).getByText('Handle again').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(`Message ${ids[0]} goes back to spi.outbound`).waitFor()
    const cancel = dialog.getByRole('button', { name: 'Cancel' })
    await cancel.and(page.locator(':focus')).waitFor()
    await dialog.getByRole('button', { name: 'Handle again' }).click()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await row.filter({ hasText: 'onerror' }).getByText('Throw away').click()
    await dialog.getByRole('button', { name: 'Throw away' }).click()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.locator('.card.list').waitFor({ state: 'detached' })
    const acts = await gateway.database.sql<{ act: string }[]>`
      select action || ' ' || object as act from audit_log
      where action like 'dead_letters.%' order by id`
    expect(acts.map(({ act }) => act)).toEqual([
      `dead_letters.retry ${ids[0]}`,
      `dead_letters.drop ${ids[1]}`,
    ])
    expect(await page.locator('img').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('what waits is asked for once for all that changes together, and not again for another screen', async () => {
    const one = await visit()
    const { page } = one
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (pathname.startsWith('/console/api/')) asked.push(pathname + search)
    })
    /** Waits until the stream has told of all that it follows, and the page has asked for it. */
    const quiet = async (): Promise<void> => {
      for (let before = -1; before !== asked.length; ) {
        before = asked.length
        await Bun.sleep(3_000)
      }
    }
    await signIn(one, key)
    await show(page, '/payments')
    await quiet()
    const waiting = '/console/api/v1/webhooks?needs_attention=true&limit=51'
    expect(asked).toContain(waiting)
    // The page asks once by itself, and again for what the stream tells at first.
    expect(asked.filter((path) => path === waiting).length).toBeLessThanOrEqual(4)
    asked.length = 0
    await show(page, '/keys')
    await settled(page)
    await quiet()
    expect(asked.filter((path) => !path.startsWith('/console/api/v1/keys'))).toEqual([])
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('what may be on the chain already waits for a person, who says that it was sent, or sends it', async () => {
    const { sql } = gateway.database
    const candidate = `0x${'ab'.repeat(32)}`
    const nobody = `0x${'cd'.repeat(20)}`
    const held = { since: new Date(0).toISOString(), candidates: [candidate] }
    await sql`
      insert into drex_transactions
        (id, network, sender, kind, subject, status, recipient, data, created_by, expires_at, held)
      values ('held-here', 'drex_testnet', ${nobody}, 'call', ${hostile}, 'pending', ${nobody}, '0x',
        'test', now() + interval '1 day', ${sql.json(held)})`
    const one = await visit({ viewport: { width: 390, height: 844 } })
    const { page } = one
    await signIn(one, await gateway.keyOf({ name: 'operator' }), '/attention')
    const row = page.locator('tr', { hasText: hostile })
    await row.getByText('the same is on the chain').waitFor()
    expect(await serious(page)).toEqual([])
    const dialog = page.getByRole('dialog')
    await row.getByRole('button', { name: 'It was sent' }).click()
    expect(await dialog.locator('[name=tx_hash]').inputValue()).toBe(candidate)
    await dialog.getByRole('button', { name: 'It was sent' }).click()
    await dialog.getByRole('alert').getByText('no transaction of the wallet').waitFor()
    await page.keyboard.press('Escape')
    await row.getByRole('button', { name: 'Send now' }).click()
    await dialog.getByText('it happens twice').waitFor()
    await dialog.getByRole('button', { name: 'Send now' }).click()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await row.waitFor({ state: 'detached' })
    const acts = await sql`select 1 from audit_log where action = 'drex.resolve'`
    expect(acts).toHaveLength(1)
    expect(await page.locator('img').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)
    await sql`delete from drex_transactions where id = 'held-here'`
  }, 120_000)

  test('own Pix keys: found, compared with the directory, taken out of it', async () => {
    const operator = await gateway.keyOf({ name: 'operator' })
    const register = async (key: string): Promise<void> => {
      const answer = await fetch(`${url}/v1/dict/entries`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${operator}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': key,
        },
        body: JSON.stringify({
          key_type: 'EMAIL',
          key,
          owner: { tax_id: '12345678909', name: hostile },
          account: { number: '500100', type: 'CACC', opened_at: '2020-01-10T03:00:00Z' },
        }),
      })
      expect(answer.status).toBe(201)
    }
    await register('a@example.com')
    await register('b@example.com')
    const one = await visit({ viewport: { width: 1280, height: 800 } })
    const { page } = one
    await signIn(one, operator)
    await page.getByRole('link', { name: 'Pix keys' }).click()
    const row = page.locator('tbody tr')
    const second = row.filter({ hasText: 'b@example.com' })
    await row.filter({ hasText: 'a@example.com' }).getByText('onerror').waitFor()
    await second.waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Compare with the directory' }).click()
    await dialog.getByLabel('Type').selectOption('EMAIL')
    await dialog.getByRole('button', { name: 'Compare' }).click()
    await dialog.getByText('The same keys: 2.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.locator('main').getByRole('searchbox').fill('b@example.com')
    await page.keyboard.press('Enter')
    await page.waitForURL(/key=b%40example.com/)
    await row.filter({ hasText: 'a@example.com' }).waitFor({ state: 'detached' })
    await second.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByText('b@example.com is taken out of the directory').waitFor()
    await dialog.getByLabel('Reason').selectOption('ACCOUNT_CLOSURE')
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await second.getByText('removed').waitFor()
    expect(await second.getByRole('button', { name: 'Remove' }).count()).toBe(0)
    await seen.leave(one)
    const reader = await visit()
    await signIn(
      reader,
      await gateway.keyOf({ name: 'reader', grants: ['dict:read'] }),
      '/pix-keys',
    )
    await reader.page.locator('tbody tr').first().waitFor()
    expect(await reader.page.getByRole('button', { name: 'Remove' }).count()).toBe(0)
    expect([...one.problems, ...reader.problems]).toEqual([])
    await seen.leave(reader)
  }, 120_000)

  test('business days that differ and advices of nothing known are seen to, with a note', async () => {
    const { sql } = gateway.database
    const totals = (count: number, cents: string) => ({
      credit: { count: 0, cents: '0' },
      credit_reversal: { count: 0, cents: '0' },
      debit: { count, cents },
      debit_reversal: { count: 0, cents: '0' },
    })
    await sql`
      insert into card_reconciliations (network, day, currency, status, ours, theirs,
        next_attempt_at, ended_at)
      values ('neta', '2026-01-30', 'BRL', 'different', ${sql.json(totals(2, '1250'))},
          ${sql.json(totals(2, '1255'))}, now(), now()),
        ('neta', '2026-01-29', 'JPY', 'balanced', ${sql.json(totals(1, '1250'))},
          ${sql.json(totals(1, '1250'))}, now(), now())`
    await sql`
      insert into card_unmatched_advices (network, mti, stan, transmission, rrn, amount_cents)
      values ('neta', '0220', '000123', '0130120000', ${hostile.slice(0, 40)}, 990)`
    const one = await visit({ viewport: { width: 390, height: 844 } })
    const { page } = one
    await signIn(one, await gateway.keyOf({ name: 'operator' }), '/cards')
    const day = page.locator('tr', { hasText: '2026-01-30' })
    await day.getByText('sales: 0 · -R$0.05').waitFor()
    await day.getByText('2 · R$12.50 ours').waitFor()
    await day.getByText('2 · R$12.55 theirs').waitFor()
    const balanced = page.locator('tr', { hasText: '2026-01-29' })
    await balanced.getByText('1 · ¥1,250 ours').waitFor()
    const seenTo = { name: 'Seen to' }
    expect(await balanced.getByRole('button', seenTo).count()).toBe(0)
    await settled(page)
    expect(await serious(page)).toEqual([])
    await sql`
      insert into card_movements (network, day, currency, kind, amount_cents, transaction_id, stan, transmission)
      values ('neta', '2026-01-30', 'BRL', 'debit', 1250, ${hostile}, '000077', '0130120000')`
    await day.getByRole('link', { name: '2026-01-30' }).click()
    const movement = page.locator('tr', { hasText: 'R$12.50' })
    await movement.getByText('sales', { exact: true }).waitFor()
    await movement.getByRole('link', { name: 'onerror' }).waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    await page.getByRole('link', { name: 'Business days' }).click()
    const dialog = page.getByRole('dialog')
    const see = async (row: ReturnType<typeof page.locator>, consequence: string) => {
      await row.getByRole('button', seenTo).click()
      await dialog.getByText(consequence).waitFor()
      await dialog.locator('[name=reason]').fill(`ticket 7 ${hostile}`)
      await dialog.getByRole('button', seenTo).click()
      await dialog.getByRole('button', { name: 'Close' }).click()
    }
    await see(day, 'The day 2026-01-30 of neta in BRL counts as seen to')
    await day.getByText('seen to: ticket 7').waitFor()
    expect(await day.getByRole('button', seenTo).count()).toBe(0)
    const advice = page.locator('tr', { hasText: '0220' })
    await see(advice, 'What neta told of with RRN')
    await page.getByText('All advices of networks are known here.').waitFor()
    const acts = await sql<{ action: string }[]>`
      select action from audit_log where action like 'cards.%resolve%' order by id`
    expect(acts).toHaveLength(2)
    expect(await page.locator('img').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)

    const other = await visit()
    await signIn(other, await gateway.keyOf({ grants: ['cards:read', 'ops:read'] }))
    await sql`update card_reconciliations set resolved_at = null`
    await show(other.page, '/cards')
    await other.page.locator('tr', { hasText: '2026-01-30' }).waitFor()
    expect(await other.page.getByRole('button', seenTo).count()).toBe(0)
    const forged = await other.page.evaluate(
      `fetch('/console/api/v1/transactions/reconciliations/1/resolve', {
        method: 'POST', headers: { 'X-Trilho-Console': 'user', 'Content-Type': 'application/json' },
        body: '{"reason":"x"}' }).then((a) => a.status)`,
    )
    expect(forged).toBe(403)
    await seen.leave(other)
    await sql`truncate card_reconciliations, card_unmatched_advices, card_movements`
  }, 120_000)

  test('a payment of unknown outcome is sent again by who may send payments, from the list and from its page', async () => {
    const { sql } = gateway.database
    const [first, second] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
    await sql`
      insert into spi_messages (id, type, direction, status, channel, biz_msg_idr, end_to_end_id,
        transaction_count, signature, xml)
      select id, 'pacs.008', 'OUTBOUND', 'UNKNOWN', 'PRIMARY', ${hostile}, 'E' || id, 1,
        'NOT_CHECKED', ${Bun.zstdCompressSync(pacs008())}
      from unnest(${sql.array([first, second])}::uuid[]) as made(id)`
    const one = await visit({ viewport: { width: 390, height: 844 } })
    const { page } = one
    await signIn(one, await gateway.keyOf({ name: 'operator' }))
    const dialog = page.getByRole('dialog')
    const again = { name: 'Send again now' }
    const confirm = async (id: string) => {
      await dialog.getByText(`The same bytes of E${id} go to the central bank once more`).waitFor()
      await dialog.getByRole('button', again).click()
      await dialog.getByText('goes out within seconds').waitFor()
      await dialog.getByRole('button', { name: 'Close' }).click()
    }
    await show(page, '/attention')
    await page.locator('tr', { hasText: first }).getByRole('button', again).click()
    await confirm(first)
    expect(await serious(page)).toEqual([])
    await sql`
      insert into webhook_endpoints (id, url, events, active)
      values ('whk_told', 'https://shop.example', '{*}', false)`
    await sql`
      insert into webhook_events (id, type, patterns, subject, sequence, data, published_at)
      values ('evt_told', 'pacs.008', '{*}', ${`E${second}`}, 1, '{}', now())`
    await sql`
      insert into webhook_deliveries (id, event_id, endpoint_id, status, attempts)
      values ('dlv_told', 'evt_told', 'whk_told', 'exhausted', 10)`
    await show(page, `/payments/spi/${second}`)
    const told = page.locator('.timeline li', { hasText: 'webhook pacs.008' })
    await told.getByText('exhausted · 10 attempts').waitFor()
    const link = told.getByRole('link')
    expect(await link.getAttribute('href')).toBe('/console/webhooks/deliveries/dlv_told')
    await page.getByRole('button', again).click()
    await confirm(second)
    await settled(page)
    // A person may end only what is so old that the central bank no longer recognises it.
    const end = { name: 'Tell its end' }
    expect(await page.getByRole('button', end).count()).toBe(0)
    const old = Bun.randomUUIDv7('hex', Date.now() - 25 * 3_600_000)
    await sql`
      insert into spi_messages (id, type, direction, status, channel, biz_msg_idr, end_to_end_id,
        transaction_count, signature, xml)
      values (${old}, 'pacs.008', 'OUTBOUND', 'UNKNOWN', 'PRIMARY', 'M1', ${`E${old}`}, 1,
        'NOT_CHECKED', ${Bun.zstdCompressSync(pacs008())})`
    await show(page, '/attention')
    await page.locator('tr', { hasText: old }).getByRole('button', end).click()
    await dialog.getByText(`E${old} ends as chosen`).waitFor()
    await dialog.getByLabel('What the central bank confirmed').selectOption('REJECTED')
    await dialog.getByLabel('Who confirmed it').fill('desk, case 4711')
    await dialog.getByRole('button', end).click()
    await dialog.getByText('It is now').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.locator('tr', { hasText: old }).waitFor({ state: 'detached' })
    const [ended] = await sql<{ status: string; code: string }[]>`
      select status, error_code as code from spi_messages where id = ${old}`
    expect(ended).toMatchObject({ status: 'REJECTED', code: 'resolved' })
    const wishes = await sql<{ id: string }[]>`
      select message_id::text as id from spi_resends order by message_id`
    expect(wishes.map(({ id }) => id)).toEqual([first, second])
    const acts = await sql`select from audit_log where action = 'spi.resend'`
    expect(acts).toHaveLength(2)
    expect(one.problems).toEqual([])
    await seen.leave(one)

    const other = await visit()
    await signIn(
      other,
      await gateway.keyOf({ grants: ['messages:read', 'ops:read'] }),
      `/payments/spi/${second}`,
    )
    await settled(other.page)
    expect(await other.page.getByRole('button', again).count()).toBe(0)
    const forged = await other.page.evaluate(
      `fetch('/console/api/v1/spi/messages/${second}/resend', {
        method: 'POST', headers: { 'X-Trilho-Console': 'user' } }).then((a) => a.status)`,
    )
    expect(forged).toBe(403)
    await seen.leave(other)
    await sql`truncate spi_messages, spi_resends, webhook_endpoints cascade`
  }, 120_000)

  test('a transfer that is late is told of, however many are sent after it', async () => {
    const { sql } = gateway.database
    const nobody = `0x${'cd'.repeat(20)}`
    const send = (ids: string, ago: string, many: number) => sql`
      with sent as (
        insert into drex_transactions (id, network, sender, kind, subject, status, recipient, data,
          created_by, created_at, expires_at, due_at)
        select 'late-' || id, 'drex_testnet', ${nobody}, 'transfer', id, 'broadcast', ${nobody}, '0x',
          'test', at, at + interval '1 day', at + interval '1 day'
        from (
          select now() - ${ago}::interval as at,
            'trf_' || lpad(to_hex((extract(epoch from now() - ${ago}::interval) * 1000)::bigint), 12, '0')
              || '7' || lpad(n::text, 3, '0') || ${ids} as id
          from generate_series(1, ${many}::int) n
        ) one
        returning id, subject, created_at)
      insert into drex_transfers (id, transaction_id, network, token, from_wallet, to_wallet, amount,
        metadata, created_by, created_at)
      select subject, id, 'drex_testnet', ${nobody}, ${nobody}, ${nobody}, 100, '{}', 'test', created_at
      from sent`
    await send('a'.repeat(16), '1 hour', 1)
    await send('b'.repeat(16), '1 minute', 250)
    const one = await visit()
    const { page } = one
    page.setDefaultTimeout(20_000)
    await signIn(one, await gateway.keyOf({ name: 'operator' }))
    await page.locator('section.strip').getByText('1 transfer').waitFor()
    await show(page, '/attention')
    await page.getByRole('link', { name: `7001${'a'.repeat(16)}` }).waitFor()
    expect(await page.getByRole('link', { name: 'b'.repeat(16) }).count()).toBe(0)
    expect(one.problems).toEqual([])
    await page.context().close()
    await sql`delete from drex_transfers where created_by = 'test'`
    await sql`delete from drex_transactions where created_by = 'test'`
  }, 120_000)
})
