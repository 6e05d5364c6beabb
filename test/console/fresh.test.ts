/** A page stays right: answers out of order, asks that fail, lists read on, other time zones. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { hasBrowser } from '../support/browser.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { ofGateway } from './load-console.ts'
import { apiOf, seedCharges } from './seeds.ts'
import { openConsole, type SeenConsole, settled, show, signIn, visitOf } from './visit.ts'

const problemOf = (detail: string): string =>
  JSON.stringify({ type: '/v1/errors/internal', code: 'internal', detail })

const list = /\/console\/api\/v1\/transactions\?/

describe.skipIf(!hasBrowser)('the console in Chromium (needs /usr/bin/chromium)', () => {
  let seen: SeenConsole
  let operator = ''

  beforeAll(async () => {
    seen = await openConsole()
    operator = await seen.gateway.keyOf({ name: 'operator' })
  })
  afterAll(() => seen?.[Symbol.asyncDispose]())

  /** @returns the reference that the row of the payment shows */
  const authorize = async (): Promise<string> => {
    const answer = await fetch(`${seen.gateway.urls.cardsUrl}/v1/transactions/authorize`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${operator}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(authorizationBody('tok_visa_approved')),
    })
    expect(answer.status).toBe(201)
    return ((await answer.json()) as { rrn: string }).rrn
  }

  const rowOf = (page: Page, rrn: string) => page.locator('tbody tr', { hasText: rrn })

  /** Opens the list of card payments, with one in it. */
  const openList = async () => {
    const first = await authorize()
    const one = await seen.visit()
    await signIn(one, operator, '/payments?rail=cards')
    await rowOf(one.page, first).waitFor()
    return one
  }

  test('an answer that comes after that of a later ask is not shown', async () => {
    const one = await openList()
    const { page } = one
    let earlier = ''
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isHeld = false
    await page.route(list, async (route) => {
      const response = await route.fetch()
      if (!isHeld && earlier !== '' && (await response.text()).includes(earlier)) {
        isHeld = true
        held.resolve()
        await released.promise
      }
      await route.fulfill({ response })
    })
    earlier = await authorize()
    await held.promise
    const later = await authorize()
    await rowOf(page, later).waitFor()
    const late = page.waitForResponse(async (answer) => !(await answer.text()).includes(later))
    released.resolve()
    await late
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))')
    expect(await rowOf(page, later).count()).toBe(1)
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('what is explained is what was asked last, and is asked anew when it is looked for again', async () => {
    const one = await seen.visit()
    const { page } = one
    page.setDefaultTimeout(20_000)
    await signIn(one, operator)
    const [former, latter] = ['A', 'B'].map((end) => `E12345678202611280000abcdefghij${end}`)
    const held = Promise.withResolvers<void>()
    let asked = 0
    await page.route(/\/v1\/messages\?.*end_to_end_id/, async (route) => {
      const id = new URL(route.request().url()).searchParams.get('end_to_end_id')
      asked += 1
      if (id === former) await held.promise
      const row = { id, type: 'pacs.008', status: 'ACCEPTED', end_to_end_id: id, biz_msg_idr: '' }
      const times = { created_at: '2026-11-28T12:00:00.000Z', amount: '1.00' }
      const json = { messages: [{ ...row, ...times }], next_cursor: null }
      await route.fulfill({ headers: ofGateway, json })
    })
    const find = page.locator('form.find input')
    const look = async (text = '') => {
      await find.fill(text)
      await find.press('Enter')
    }
    const row = page.locator('main tbody tr')
    await look(former)
    await page.locator('textarea').waitFor()
    await look(latter)
    await row.getByText(latter ?? '').waitFor()
    const late = page.waitForResponse((answer) => answer.url().includes(former ?? ''))
    held.resolve()
    await late
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 100))')
    expect(await row.getByText(latter ?? '').count()).toBe(1)
    await page.locator('textarea').fill('something else')
    const again = page.waitForResponse((answer) => answer.url().includes(latter ?? ''))
    await look(latter)
    await again
    expect([asked, await page.locator('textarea').inputValue()]).toEqual([3, latter ?? ''])
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('what could not be asked for is told of with its time, and asked for again', async () => {
    const one = await openList()
    const { page } = one
    await page.route(list, (route) => route.fulfill({ status: 503, body: problemOf('later') }))
    const rrn = await authorize()
    const note = page.getByText(/Not updated since .*later/)
    await note.waitFor({ timeout: 20_000 })
    await settled(page)
    await page.unrouteAll()
    // Nothing more changes: the page asks again by itself.
    await rowOf(page, rrn).waitFor({ timeout: 30_000 })
    await note.waitFor({ state: 'detached' })
    await page.context().close()
  }, 120_000)

  test('what a proxy answers ends no session, also where it is asked who is signed in', async () => {
    const one = await openList()
    const { page } = one
    page.setDefaultTimeout(30_000)
    const foreign = { status: 401, contentType: 'text/html', body: '<h1>Who are you?</h1>' }
    await page.route(/\/console\/(api|session)/, (route) => route.fulfill(foreign))
    await show(page, '/webhooks')
    await page.getByText('Somebody between this page').first().waitFor()
    expect(await page.locator('input[name=key]').count()).toBe(0)
    await page.reload()
    await page.getByText('Somebody between this page').waitFor()
    expect(await page.locator('input[name=key]').count()).toBe(0)
    await page.unrouteAll()
    await page.locator('.who', { hasText: 'operator' }).waitFor()
    await page.context().close()
  }, 120_000)

  test('a link leads the keyboard into its page; a session that is over says so, and one goes on from there', async () => {
    const one = await openList()
    const { page } = one
    page.setDefaultTimeout(30_000)
    await page.locator('tbody a').first().focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/payments\/cards\//)
    await page.locator('main:focus').waitFor()
    expect(await page.locator('main').getAttribute('aria-label')).toBe('Payments')
    await page.context().clearCookies()
    await show(page, '/webhooks')
    await page.getByRole('status').getByText('The session is over').waitFor()
    await page.locator('input[name=key]').fill(operator)
    await page.keyboard.press('Enter')
    await page.locator('h1', { hasText: 'Webhooks' }).waitFor()
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('what changes while nobody sees the page is there when it is seen again', async () => {
    const one = await openList()
    const { page } = one
    const hide = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })`,
      )
    // This is a change told just before the page hides, whose ask is due after.
    await hide(true)
    const rrn = await authorize()
    await Bun.sleep(4_000)
    await hide(false)
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await rowOf(page, rrn).waitFor({ timeout: 20_000 })
    expect(one.problems).toEqual([])
    await page.context().close()
  }, 120_000)

  test('what waits for a person is not told to be nothing where it cannot be asked for', async () => {
    const one = await seen.visit()
    const { page } = one
    await page.route(/\/v1\/webhooks/, (route) =>
      route.fulfill({ status: 500, body: problemOf('broken') }),
    )
    await signIn(one, operator)
    const strip = page.locator('section.strip')
    await strip.getByRole('alert').getByText('broken').waitFor()
    await page.unrouteAll()
    await strip.getByRole('alert').waitFor({ state: 'detached', timeout: 30_000 })
    await page.context().close()
  }, 120_000)

  test('parts of the gateway that are not told of now are not told to be none', async () => {
    const one = await seen.visit()
    const { page } = one
    page.setDefaultTimeout(20_000)
    const untold = { status: 'degraded', version: '0', database: 'down' }
    await signIn(one, operator)
    await page.locator('.parties li').first().waitFor()
    await page.route(/\/api\/health/, (route) =>
      route.fulfill({ headers: ofGateway, json: untold }),
    )
    await page.getByText(/Not updated since .*does not tell now/).waitFor({ timeout: 60_000 })
    expect(await page.locator('.parties li').count()).toBeGreaterThan(0)
    await show(page, '/cards')
    await page.getByRole('alert').getByText('does not tell now').waitFor()
    await show(page, '/attention')
    await page.locator('tbody tr', { hasText: 'does not tell now' }).waitFor()
    expect(one.problems).toEqual([])
    await page.context().close()
  }, 120_000)

  test('a list that is read on has each row once, whatever else is under way', async () => {
    const { sql } = seen.gateway.database
    const first = await authorize()
    await sql`
      insert into card_transactions
      select (jsonb_populate_record(one, jsonb_build_object('id', left(one.id, 32) || lpad(n::text, 4, '0'),
        'merchant_id', 'MANY', 'rrn', 'many' || lpad(n::text, 4, '0')))).*
      from card_transactions one, generate_series(1, 150) n where one.rrn = ${first}`
    const one = await seen.visit()
    const { page } = one
    page.setDefaultTimeout(10_000)
    const mine = '/payments?rail=cards&as=merchant_id&find=MANY'
    await signIn(one, operator, mine)
    await page.getByText('50 loaded').waitFor()
    const released = Promise.withResolvers<void>()
    const [firstHeld, nextHeld] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let asked = 0
    await page.route(list, async (route) => {
      const isNext = route.request().url().includes('cursor=')
      if (isNext) asked += 1
      const response = await route.fetch()
      const held = isNext ? nextHeld : firstHeld
      held.resolve()
      await released.promise
      await route.fulfill({ response })
    })
    await sql`
      update card_transactions set id = left(id, 32) || '9999' where rrn = 'many0001' and merchant_id = 'MANY'`
    await firstHeld.promise
    const more = page.getByRole('button', { name: 'Show more' })
    await more.click()
    await more.click({ force: true })
    await nextHeld.promise
    released.resolve()
    await page.getByText('100 loaded').waitFor({ timeout: 20_000 })
    expect(asked).toBe(1)
    // This was the last row of the first page; a newer first page would end before it.
    await page.getByText('many0101', { exact: true }).waitFor({ state: 'attached' })
    await page.getByText('100 loaded').waitFor()
    await page.unrouteAll()
    await page.route(list, (route) => route.abort())
    await more.click()
    await page.locator('footer').getByRole('alert').getByText('does not answer').waitFor()
    await page.unrouteAll()
    await more.click()
    await page.getByText('149 loaded').waitFor()
    expect(one.problems.filter((text) => !text.includes('ERR_FAILED'))).toEqual([])
    await seen.leave(one)
    await sql`delete from card_transactions where merchant_id = 'MANY'`
  }, 120_000)

  test('what an act changed is listed from its beginning, however far one had read', async () => {
    const { sql } = seen.gateway.database
    const api = apiOf(seen.gateway.urls.httpUrl, operator)
    const { wallet_id: id } = await api('POST', '/v1/wallets', { type: 'managed', label: 'one' })
    await sql`
      insert into drex_wallets
      select (jsonb_populate_record(one, jsonb_build_object('id', left(one.id, -4) || lpad(n::text, 4, '0'), 'address', '0x' || lpad(n::text, 40, '0'),
        'label', 'MANY'))).*
      from drex_wallets one, generate_series(1, 120) n where one.id = ${id}`
    const one = await seen.visit()
    const { page } = one
    page.setDefaultTimeout(10_000)
    await signIn(one, operator, '/currency?show=wallets')
    await page.getByText('50 loaded').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('100 loaded').waitFor()
    await page.getByRole('button', { name: 'New wallet' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('input[name=label]').fill('one more')
    await dialog.getByRole('button', { name: 'New wallet' }).click()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByText('50 loaded').waitFor({ timeout: 20_000 })
    expect(one.problems).toEqual([])
    await seen.leave(one)
    await sql`delete from drex_wallets where label = 'MANY'`
  }, 120_000)

  test('a time is given in the zone that times are shown in, wherever the browser is', async () => {
    const api = apiOf(seen.gateway.urls.httpUrl, operator)
    const { id } = await api('POST', '/v1/webhooks', {
      url: 'https://example.com/hooks',
      events: ['*'],
    })
    const one = await visitOf(seen.browser, seen.url, { timezoneId: 'Asia/Tokyo' })
    const { page } = one
    page.setDefaultTimeout(20_000)
    await signIn(one, operator, '/keys')
    const dialog = page.getByRole('dialog')
    const sent = async (path: string, verb: string): Promise<unknown> => {
      const asked = page.waitForRequest((request) => request.url().endsWith(path))
      await dialog.getByRole('button', { name: verb }).click()
      await dialog.getByRole('button', { name: 'Close' }).click()
      return (await asked).postDataJSON()
    }
    await page.getByRole('button', { name: 'New key' }).click()
    await dialog.locator('[name=name]').fill('zone')
    await dialog.locator('[name=scopes]').fill('cards:read')
    await dialog.locator('[name=expires]').fill('2031-06-01T10:00')
    expect(await sent('/v1/keys', 'New key')).toMatchObject({
      expires_at: '2031-06-01T13:00:00.000Z',
    })
    await show(page, `/webhooks/${id}`)
    await page.getByRole('button', { name: 'Replay range' }).click()
    await dialog.locator('[name=since]').fill('2026-11-01T00:00:00')
    await dialog.locator('[name=until]').fill('2026-11-01T23:59:59')
    expect(await sent(`/${id}/replay`, 'Send again')).toEqual({
      since: '2026-11-01T03:00:00.000Z',
      until: '2026-11-02T02:59:59.000Z',
    })
    expect(one.problems).toEqual([])
    await page.context().close()
  }, 120_000)

  test('what cannot be done says so', async () => {
    const one = await seen.visit()
    const { page } = one
    page.setDefaultTimeout(20_000)
    await signIn(one, operator)
    await page.route(/\/v1\/drex\/networks/, (route) =>
      route.fulfill({ status: 503, body: problemOf('later') }),
    )
    await show(page, '/currency?show=contracts')
    await page.getByRole('alert').getByText('later').waitFor()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Register a contract' }).click()
    await page.getByRole('dialog').locator('[name=network]').waitFor()
    await page.keyboard.press('Escape')
    await show(page, '/tools?tool=samples')
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error())')
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Not copied' }).waitFor()
    // The API sends a test at each request, so the page must not say that it happens once.
    const hook = { url: 'http://127.0.0.1:9/', events: ['card.*'] }
    const { id } = await apiOf(seen.url, operator)('POST', '/v1/webhooks', hook)
    await show(page, `/webhooks/${id}`)
    await page.route(/\/test$/, (route) => route.abort())
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send test' }).click()
    await page.getByRole('alert').getByText('does it once more').waitFor()
    await page.keyboard.press('Escape')
    // The session goes on, so the page must not say that it is over.
    await page.route(/\/console\/session/, (route) => route.abort())
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.locator('aside').getByRole('alert').getByText('does not answer').waitFor()
    expect(one.problems.filter((text) => !/503|ERR_FAILED/.test(text))).toEqual([])
    await page.context().close()
  }, 120_000)

  test('a page whose browser is signed in with another key meanwhile acts for neither, and asks who it is', async () => {
    const other = await seen.gateway.keyOf({ name: 'other' })
    const one = await seen.visit()
    const { page } = one
    page.setDefaultTimeout(20_000)
    const streams: (string | null)[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/console/live') streams.push(searchParams.get('key'))
    })
    await signIn(one, operator, '/webhooks')
    await settled(page)
    const body = JSON.stringify(JSON.stringify({ key: other }))
    await page.evaluate(`fetch('/console/session', { method: 'POST', body: ${body},
      headers: { 'X-Trilho-Console': 'user', 'Content-Type': 'application/json' } })`)
    await show(page, '/keys')
    await page.locator('input[name=key]').waitFor()
    expect(new Set(streams)).toEqual(new Set([operator.split('_')[2] ?? '']))
    await signIn(one, other, '/webhooks')
    await page.locator('.who', { hasText: 'other' }).waitFor()
    await settled(page)
    // Who signs out of the shown session does not sign the other one out.
    const again = JSON.stringify(JSON.stringify({ key: operator }))
    await page.evaluate(`fetch('/console/session', { method: 'POST', body: ${again},
      headers: { 'X-Trilho-Console': 'user', 'Content-Type': 'application/json' } })`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.locator('input[name=key]').waitFor()
    await page.reload()
    await page.locator('.who', { hasText: 'operator' }).waitFor()
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('what is tried again bears the key of the first time, also when the page was loaded anew meanwhile', async () => {
    const paths = await seedCharges(seen.gateway, operator)
    const one = await seen.visit()
    const { page } = one
    page.setDefaultTimeout(20_000)
    const keys: (string | undefined)[] = []
    const held = Promise.withResolvers<void>()
    await page.route(/\/pix\/v2\/cobr\//, async (route) => {
      if (route.request().method() === 'GET') {
        const response = await route.fetch()
        const json = { ...(await response.json()), tentativas: [{ atualizacao: [] }] }
        return route.fulfill({ response, json })
      }
      keys.push(route.request().headers()['idempotency-key'])
      if (keys.length === 3) await held.promise
      if (keys.length <= 2) return route.abort()
      return route.fulfill({ status: 201, headers: ofGateway, body: '{}' })
    })
    await signIn(
      one,
      operator,
      paths.find((path) => path.includes('/cobr/')),
    )
    const ask = page.getByRole('button', { name: 'Charge again' })
    await ask.click()
    const dialog = page.getByRole('dialog')
    const retry = dialog.getByRole('button', { name: 'Charge again' })
    await retry.click()
    await dialog.getByRole('alert').waitFor()
    await retry.click()
    await dialog.getByRole('alert').getByText('It may have been done').waitFor()
    const cancel = dialog.getByRole('button', { name: 'Cancel' })
    await cancel.click()
    await page.reload()
    await ask.click()
    await retry.click()
    // The page stays while the outcome is unknown.
    await dialog.getByText('Working…').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    const address = page.url()
    await page.evaluate('history.back()')
    await Bun.sleep(200)
    expect([page.url(), await cancel.isDisabled()]).toEqual([address, true])
    await page.evaluate('history.back()')
    await Bun.sleep(200)
    expect([page.url(), await cancel.isDisabled()]).toEqual([address, true])
    held.resolve()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await ask.click()
    await retry.click()
    await dialog.getByRole('button', { name: 'Close' }).click()
    expect(keys).toEqual([keys[0], keys[0], keys[0], keys[3]])
    expect([new Set(keys).size, keys.includes(undefined)]).toEqual([2, false])
    // A page that still reads while it closes fails the handler.
    await page.unrouteAll({ behavior: 'wait' })
    await page.context().close()
  }, 120_000)
})
