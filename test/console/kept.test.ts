/** The page loses nothing that a person has begun: neither a secret that an act tells once, nor a pending answer. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hasBrowser } from '../support/browser.ts'
import { openConsole, type SeenConsole, signIn } from './visit.ts'

describe.skipIf(!hasBrowser)('the console in Chromium (needs /usr/bin/chromium)', () => {
  let seen: SeenConsole

  beforeAll(async () => {
    seen = await openConsole()
  })
  afterAll(() => seen?.[Symbol.asyncDispose]())

  test('the new secret of the session’s own key stays until it is closed, though the old one counts no more', async () => {
    const one = await seen.visit()
    const { page } = one
    await signIn(one, await seen.gateway.keyOf({ name: 'operator' }), '/keys')
    const own = page.locator('tbody tr', { hasText: 'this session' })
    await own.getByRole('button', { name: 'Rotate' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('select').selectOption('0')
    const refused = page.waitForResponse((answer) => answer.status() === 401)
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    const turned = (await dialog.locator('.secret').textContent()) ?? ''
    await refused
    // The page needs this long to show what follows.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 200))')
    expect(await dialog.locator('.secret').allTextContents()).toEqual([turned])
    await dialog.getByRole('button', { name: 'Close' }).click()
    await signIn(one, turned)
    await own.waitFor()
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)
})
