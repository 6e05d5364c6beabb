/** At night, by keyboard: each trouble is found from the overview in three steps at most, with its safe act. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { deadLetterHeaders } from '#src/platform/broker/index.ts'
import { hasBrowser } from '../support/browser.ts'
import { openConsole, type SeenConsole, settled, signIn } from './visit.ts'

const stopsMax = 150

/** Goes on by Tab until what has the focus says so, and opens it. */
const reach = async (page: Page, text: string): Promise<void> => {
  for (let at = 0; at < stopsMax; at++) {
    await page.keyboard.press('Tab')
    const focused = String(await page.evaluate('document.activeElement.textContent'))
    if (!focused.includes(text) || focused.length > text.length + 40) continue
    await page.keyboard.press('Enter')
    return
  }
  throw new Error(`${text} is not reached by Tab`)
}

describe.skipIf(!hasBrowser)('a night in Chromium (needs /usr/bin/chromium)', () => {
  let seen: SeenConsole
  let operator = ''

  beforeAll(async () => {
    seen = await openConsole()
    operator = await seen.gateway.keyOf({ name: 'operator' })
    const { sql } = seen.gateway.database
    const headers = {
      ...{ [deadLetterHeaders.errorCode]: 'unreadable', [deadLetterHeaders.topic]: 'spi.outbound' },
    }
    await sql`insert into broker_dead_letters (key, headers, value) values ('k', ${sql.json(headers)}, 'x')`
    await sql`
      insert into webhook_endpoints (id, url, events, active)
      values ('whk_night', 'https://shop.example', '{*}', true)`
    await sql`
      insert into webhook_events (id, type, patterns, subject, sequence, data, published_at)
      values ('evt_night', 'pacs.008', '{*}', 'E1', 1, '{}', now())`
    await sql`
      insert into webhook_deliveries (id, event_id, endpoint_id, status, attempts)
      values ('dlv_night', 'evt_night', 'whk_night', 'exhausted', 10)`
  })
  afterAll(() => seen?.[Symbol.asyncDispose]())

  type Trouble = {
    readonly concern: string
    /** That lead from what needs attention to the act. */
    readonly links?: readonly string[]
    readonly act: string
    readonly says: string
    readonly verb: string
    /** In the audit. */
    readonly done: string
  }
  const troubles: readonly Trouble[] = [
    {
      ...{
        concern: 'dead letter',
        act: 'Throw away',
        says: 'is deleted for good and never handled',
      },
      ...{ done: 'dead_letters.drop', verb: 'Throw away' },
    },
    {
      ...{ concern: 'that nobody takes', links: ['https://shop.example', 'pacs.008'] },
      ...{ act: 'Send again', says: 'the same', done: 'webhooks.replay', verb: 'Send again' },
    },
  ]

  test.each(troubles)(
    '$concern: found, its consequence told, seen to, and in the audit',
    async ({ concern, links = [], act, says, done, verb }) => {
      const { sql } = seen.gateway.database
      const one = await seen.visit()
      const { page } = one
      await signIn(one, operator)
      await settled(page)
      await page.locator('.strip').getByText(concern).waitFor()
      await reach(page, concern)
      await page.locator('h1', { hasText: 'Needs attention' }).waitFor()
      await settled(page)
      for (const link of links) {
        await page.getByRole('link', { name: link }).first().waitFor()
        await reach(page, link)
      }
      await page.getByRole('button', { name: act }).first().waitFor()
      await reach(page, act)
      const dialog = page.getByRole('dialog')
      await dialog.getByText(says).first().waitFor()
      await reach(page, verb)
      await dialog.getByRole('button', { name: 'Close' }).waitFor()
      const audited = await sql`select 1 from audit_log where action = ${done}`
      expect(audited.length).toBeGreaterThan(0)
      expect(one.problems).toEqual([])
      await page.context().close()
    },
    120_000,
  )
})
