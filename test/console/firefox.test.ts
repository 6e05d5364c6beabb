/** The main tasks of the console in Firefox. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { deadLetterHeaders } from '#src/platform/broker/index.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { hasFirefox, startFirefox } from '../support/firefox/index.ts'
import { hostile, openConsole, type SeenConsole, serious, settled, show, signIn } from './visit.ts'

const screens = [
  ...['', '/payments?rail=spi', '/payments?rail=cards', '/payments?rail=drex', '/cards'],
  ...['/currency', '/attention', '/webhooks', '/certificates', '/keys', '/tools', '/audit'],
]

describe.skipIf(!hasFirefox)('the console in Firefox (needs /usr/bin/firefox)', () => {
  let browser: Browser
  let seen: SeenConsole

  beforeAll(async () => {
    browser = await startFirefox()
    seen = await openConsole({}, browser)
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await seen?.[Symbol.asyncDispose]()
  })

  test('every screen: no error, no request to elsewhere, nothing serious for axe', async () => {
    const one = await seen.visit()
    const { page } = one
    await signIn(one, await seen.gateway.keyOf({ name: 'operator' }))
    for (const path of screens) {
      await show(page, path)
      await settled(page)
      expect({ path, found: await serious(page) }).toEqual({ path, found: [] })
    }
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('a payment appears by itself and is opened; a dead letter is thrown away', async () => {
    const { gateway } = seen
    const { sql } = gateway.database
    const headers = {
      [deadLetterHeaders.errorCode]: hostile,
      [deadLetterHeaders.topic]: 'spi.outbound',
    }
    await sql`
      insert into broker_dead_letters (key, headers, value) values (${hostile}, ${sql.json(headers)}, 'x')`
    const operator = await gateway.keyOf({ name: 'operator' })
    const one = await seen.visit({ viewport: { width: 390, height: 844 } })
    const { page } = one
    await signIn(one, operator, '/payments?rail=cards')
    await page.locator('.empty').waitFor()
    const authorized = await fetch(`${gateway.urls.cardsUrl}/v1/transactions/authorize`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${operator}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(authorizationBody('tok_visa_approved')),
    })
    const { id } = (await authorized.json()) as { id: string }
    await page.locator('tbody tr a').first().click()
    await page.getByText(id).first().waitFor()
    expect(await page.getByRole('link', { name: 'Trace' }).count()).toBe(0)
    await sql`
      update card_transactions set traceparent = ${`00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`} where id = ${id}`
    await page.reload()
    const trace = page.getByRole('link', { name: 'Trace' })
    await trace.waitFor()
    expect(await trace.getAttribute('href')).toBe(`https://traces.example/${'ab'.repeat(16)}`)
    await show(page, '/attention')
    const row = page.locator('.card.list tr').filter({ hasText: 'onerror' })
    await row.getByText('Throw away').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Throw away' }).click()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await row.waitFor({ state: 'detached' })
    expect(await page.locator('img').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)
})
