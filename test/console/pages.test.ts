/** Every screen of the console in a real browser, against a gateway with payments on all rails. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { dialects, packIso8583 } from '#codecs/iso8583'
import { insertMessages } from '#src/spi/messages/index.ts'
import { sealEntries } from '../../src/platform/http/audit/chain/seal.ts'
import { message } from '../spi/messages/support.ts'
import { hasBrowser } from '../support/browser.ts'
import { authorizationBody } from '../support/cards-rig.ts'
import { quietLogger } from '../support/database.ts'
import type { GatewayHere } from '../support/gateway-here.ts'
import { pacs008 } from '../support/messages.ts'
import { issueCertificate } from '../support/pki.ts'
import { startReceiver, until } from '../webhooks/support.ts'
import { seedDeliveryAndLien } from './seeds.ts'
import {
  expectNone,
  hostile,
  openConsole,
  type SeenConsole,
  serious,
  settled,
  show,
  signIn,
  visitOf,
} from './visit.ts'

const firstScreenBytesMax = 200_000

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

  test('every screen: no error, no request to elsewhere, nothing serious for axe', async () => {
    const one = await visitOf(seen.browser, url, { viewport: { width: 1280, height: 800 } })
    const { page } = one
    await page.locator('input[name=key]').waitFor()
    expect(one.bytes()).toBeLessThan(firstScreenBytesMax)
    await signIn(one, key)
    for (const path of ['', '/payments?rail=cards', '/webhooks', '/audit']) {
      await show(page, path)
      await settled(page)
      expect(await serious(page)).toEqual([])
      // All figures have the same width, so that they line up.
      const figures = await page.evaluate(
        `getComputedStyle(document.querySelector('h1')).fontVariantNumeric`,
      )
      expect(figures).toBe('tabular-nums')
    }
    expect(one.problems).toEqual([])
    await page.context().close()
  }, 120_000)

  test('a Pix is found by its BizMsgIdr and by its amount, as people write one', async () => {
    const stored = message()
    await insertMessages(gateway.database.sql, [stored])
    const one = await visit({ locale: 'pt-BR' })
    const { page } = one
    await signIn(one, key, '/payments')
    const row = page.locator('tbody tr', { hasText: stored.transactions[0]?.endToEndId ?? '' })
    const look = async (by: string, text: string): Promise<void> => {
      await page.getByLabel('Buscar por').selectOption(by)
      await page.locator('main').getByRole('searchbox').fill(text)
      await page.keyboard.press('Enter')
      await page.waitForURL((address) => address.searchParams.get('find') === text)
    }
    await look('BizMsgIdr', stored.bizMsgIdr ?? '')
    await row.waitFor()
    await look('amount', '1,00')
    await page.getByText('Nada corresponde').waitFor()
    await look('amount', '1.234.567.890.123.456,78')
    await row.waitFor()
    await look('amount', '1.000,00 – 1.234,56')
    await page.getByText('Nada corresponde').waitFor()
    await look('amount', '1.000,50 –')
    await row.waitFor()
    await look('amount', 'dez')
    await page.getByText('deve ser um texto decimal').waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('the overview tells of each rail what the account did, and of no other account', async () => {
    const one = await visit()
    const operator = await gateway.keyOf({ name: 'operator' })
    const authorize = (token: string) =>
      fetch(`${gateway.urls.cardsUrl}/v1/transactions/authorize`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${operator}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(authorizationBody(token)),
      })
    expect((await authorize('tok_visa_approved')).status).toBe(201)
    await signIn(one, operator)
    const cards = one.page.locator('section', { has: one.page.getByText('Cards', { exact: true }) })
    await cards.locator('.chart canvas').first().waitFor()
    await cards.getByText('100%').waitFor()
    await one.page.getByText('spi.outbound').waitFor()
    await one.page.getByText(/^1\/1 · 0\/256 in flight/).waitFor()
    await one.page.getByText(/^round trip (<|\d+) /).waitFor()
    // The stream tells of it sooner than the clock asks.
    expect((await authorize('tok_visa_declined_51')).status).toBe(201)
    await cards.getByText('50%').waitFor({ timeout: 20_000 })
    // A payment that its caller took back had succeeded; one that timed out had not, however it ended.
    const { sql } = gateway.database
    const voided = async (reason: string | null): Promise<void> => {
      await sql`
        update card_transactions set status = 'voided', reason = ${reason}
        where status in ('authorized', 'voided')`
      await one.page.reload()
    }
    await voided(null)
    await cards.getByText('50%').waitFor()
    await voided('timed_out')
    await cards.getByText('timed_out').waitFor()
    await cards.getByText('0%', { exact: true }).waitFor()
    await settled(one.page)
    expect(await serious(one.page)).toEqual([])
    expect(one.problems).toEqual([])
    await seen.leave(one)
    const countedBy = async (more: Parameters<typeof gateway.keyOf>[0]): Promise<number> => {
      const answer = await fetch(`${gateway.urls.cardsUrl}/v1/transactions/activity`, {
        headers: { Authorization: `Bearer ${await gateway.keyOf(more)}` },
      })
      const { outcomes } = (await answer.json()) as { outcomes: { count: number }[] }
      return outcomes.reduce((sum, { count }) => sum + count, 0)
    }
    expect(await countedBy({})).toBeGreaterThan(0)
    expect(await countedBy({ account: 'other' })).toBe(0)
    expect(await countedBy({ restrictions: { merchant_ids: ['ANOTHER'] } })).toBe(0)
  }, 120_000)

  test('on a dark phone nothing is cut off, and a path that is none says so', async () => {
    const one = await visit({ colorScheme: 'dark', viewport: { width: 390, height: 844 } })
    const { page } = one
    await page.locator('input[name=key]').waitFor()
    await signIn(one, key)
    for (const path of ['', '/payments']) {
      await show(page, path)
      await settled(page)
    }
    await page.goto(`${url}/console/nowhere/%ff`)
    await settled(page)
    expect(await serious(page)).toEqual([])
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('by keyboard alone: sign in, skip, to the payments, look for one, sign out', async () => {
    const one = await visit()
    const { page } = one
    await page.locator('input[name=key]').focus()
    await page.keyboard.type(key)
    await page.keyboard.press('Enter')
    await page.locator('aside nav').waitFor()
    const tabTo = async (text: string): Promise<void> => {
      for (let at = 0; at < 40; at++) {
        await page.keyboard.press('Tab')
        const focused = await page.evaluate('document.activeElement.textContent')
        if (focused === text) return
      }
      throw new Error(`${text} is not reached by Tab`)
    }
    await tabTo('Payments')
    await page.keyboard.press('Enter')
    const search = page.getByPlaceholder('EndToEndId')
    await search.waitFor()
    await search.focus()
    await page.keyboard.type(hostile.slice(0, 10))
    await page.keyboard.press('Enter')
    await page.waitForURL(/find=/)
    await tabTo('Audit')
    await page.keyboard.press('Enter')
    await page.locator('h1', { hasText: 'Audit' }).waitFor()
    await tabTo('Sign out')
    await page.keyboard.press('Enter')
    await page.locator('input[name=key]').waitFor()
    expect(await page.context().cookies()).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('a link followed in the moment that the page appears leads where it says', async () => {
    const one = await visit()
    // The browser calls the observer before it paints, thus before any person could click.
    await one.page.evaluate(`new MutationObserver((_, observer) => {
        const link = document.querySelector('aside nav a[href$="/cards"]')
        if (link === null) return
        observer.disconnect()
        link.click()
      }).observe(document.body, { childList: true, subtree: true })`)
    await signIn(one, await gateway.keyOf({ name: 'operator' }))
    await one.page.locator('h1', { hasText: 'Cards' }).waitFor({ timeout: 20_000 })
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 60_000)

  test('a hostile name is shown as the text that it is; a key without scopes sees less', async () => {
    const one = await visit()
    await signIn(one, key)
    await one.page.getByText(hostile).waitFor()
    expect(await one.page.locator('img').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)
    const less = await visit({ locale: 'pt-BR' })
    key = await gateway.keyOf({ grants: ['cards:read'] })
    await signIn(less, key)
    await less.page.getByRole('link', { name: 'Pagamentos', exact: true }).waitFor()
    expect(await less.page.getByRole('link', { name: 'Auditoria' }).count()).toBe(0)
    for (const path of ['', '/cards', '/attention']) {
      await show(less.page, path)
      await settled(less.page)
    }
    expect(less.problems).toEqual([])
    const forged = await less.page.evaluate(
      `fetch('/console/api/v1/audit', { headers: { 'X-Trilho-Console': 'user' } }).then((a) => a.status)`,
    )
    expect(forged).toBe(403)
    await seen.leave(less)
  }, 120_000)

  test('a webhook is made, and what nobody took is sent again; its answer is but text', async () => {
    let isInOrder = false
    const receiver = startReceiver(() =>
      isInOrder ? new Response('thanks') : new Response(hostile, { status: 500 }),
    )
    key = await gateway.keyOf({ name: 'operator' })
    const one = await visit()
    const { page } = one
    await signIn(one, key)
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('button', { name: 'New endpoint' }).click()
    // The field has the focus once the dialog is drawn.
    const address = page.locator('dialog input[name=url]')
    await address.and(page.locator(':focus')).waitFor()
    await address.fill(receiver.url)
    await page.locator('dialog input[name=events]').fill('card.*')
    await page.getByRole('dialog').getByRole('button', { name: 'New endpoint' }).click()
    const shown = await page.locator('.secret').textContent()
    expect(shown).toStartWith('whsec_')
    await page.getByRole('button', { name: 'Close' }).click()
    const authorized = await fetch(`${gateway.urls.cardsUrl}/v1/transactions/authorize`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(authorizationBody('tok_visa_approved')),
    })
    expect(authorized.status).toBe(201)
    await until(() => receiver.received.length > 0)
    await page.getByRole('link', { name: receiver.url }).click()
    await page.getByRole('link', { name: 'card.transaction.authorized' }).click()
    await page.locator('.attempts').getByText(hostile).first().waitFor()
    expect(await serious(page)).toEqual([])
    isInOrder = true
    const sent = receiver.received.length
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
    await page.getByText('It is due now.').waitFor()
    await until(() => receiver.received.length > sent)
    expect(receiver.received.at(-1)?.body).toBe(receiver.received[0]?.body ?? '')
    await page.keyboard.press('Escape')
    expect(await page.locator('img').count()).toBe(0)

    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('link', { name: receiver.url }).click()
    const dialog = page.getByRole('dialog')
    const act = async (title: string, consequence: string, verb = title): Promise<void> => {
      await page.getByRole('button', { name: title }).click()
      await dialog.getByText(consequence).waitFor()
      if (title === 'Replay range') await dialog.locator('[name=since]').fill('2026-01-01T00:00:00')
      await dialog.getByRole('button', { name: verb }).click()
      await dialog.getByRole('button', { name: 'Close' }).waitFor()
    }
    const close = () => dialog.getByRole('button', { name: 'Close' }).click()
    await act('Send test', 'One event webhook.test')
    await dialog.getByText('thanks').waitFor()
    await close()
    expect(receiver.received.at(-1)?.body).toContain('webhook.test')
    await act('Rotate secret', 'A new secret signs every delivery')
    expect(await dialog.locator('.secret').textContent()).not.toBe(shown)
    await close()
    await gateway.database.sql`update webhook_deliveries set status = 'exhausted'`
    const before = receiver.received.length
    await act('Replay range', receiver.url, 'Send again')
    await close()
    await until(() => receiver.received.length > before)
    expect(receiver.received.at(-1)?.body).toBe(receiver.received[0]?.body ?? '')
    await act('Pause', 'Nothing is sent to')
    await close()
    await page.locator('header .badge', { hasText: 'paused' }).waitFor()
    await act('Activate', receiver.url)
    await close()
    const acts = await gateway.database.sql<{ action: string }[]>`
      select distinct action from audit_log where action like 'webhooks.%' order by action`
    expect(acts.map(({ action }) => action)).toEqual([
      ...['change', 'create', 'replay', 'rotate', 'test'].map((act) => `webhooks.${act}`),
    ])
    expect(one.problems).toEqual([])
    await seen.leave(one)
    await receiver.stop()
  }, 120_000)

  test('a key that may not manage webhooks sees no action, and is refused when it forges one', async () => {
    const one = await visit()
    key = await gateway.keyOf({ grants: ['webhooks:read'] })
    await signIn(one, key)
    await one.page.getByRole('link', { name: 'Webhooks' }).click()
    await one.page.locator('tbody a').first().click()
    await one.page.locator('.tiles').waitFor()
    expect(await one.page.locator('main button').count()).toBe(0)
    const forged = await one.page.evaluate(
      `fetch('/console/api/v1/webhooks/' + location.pathname.split('/').at(-1), {
        method: 'DELETE', headers: { 'X-Trilho-Console': 'user' } }).then((a) => a.status)`,
    )
    expect(forged).toBe(403)
    await seen.leave(one)
  }, 120_000)

  test('a key is made and shown once, restricted, rotated, revoked; who may only read them sees no action', async () => {
    const operator = await gateway.keyOf({ name: 'operator' })
    const one = await visit({ viewport: { width: 390, height: 844 } })
    const { page } = one
    await signIn(one, operator)
    await page.getByRole('link', { name: 'API keys' }).click()
    const dialog = page.getByRole('dialog')
    const close = dialog.getByRole('button', { name: 'Close' })
    await page.getByRole('button', { name: 'New key' }).click()
    await dialog.locator('[name=name]').fill(`till ${hostile}`)
    await dialog.locator('[name=scopes]').fill('cards:read\nkeys:read')
    expect(await serious(page)).toEqual([])
    await dialog.getByRole('button', { name: 'New key' }).click()
    const made = (await dialog.locator('.secret').textContent()) ?? ''
    expect(made).toStartWith('trl_test_')
    await close.click()
    const row = page.locator('tbody tr', { hasText: 'till' })
    await row.getByRole('button', { name: 'Restrict' }).click()
    await dialog.locator('[name=merchant_ids]').fill('SHOP-A\nSHOP-B')
    await dialog.locator('[name=read_only]').check()
    await dialog.getByRole('button', { name: 'Restrict' }).click()
    await close.click()
    await row.getByText('Only these merchants: SHOP-A, SHOP-B').waitFor()
    await row.getByText('Reads only').waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    await row.getByRole('button', { name: 'Rotate' }).click()
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    const turned = (await dialog.locator('.secret').textContent()) ?? ''
    expect([turned.slice(0, 22), turned === made]).toEqual([made.slice(0, 22), false])
    await close.click()
    await row.getByRole('button', { name: 'Revoke' }).click()
    await dialog.getByText('is refused, for good').waitFor()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await close.click()
    await row.getByText('revoked').waitFor()
    await expectNone(row.getByRole('button'))
    expect(await page.locator('img').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)
    const reader = await visit()
    await signIn(reader, await gateway.keyOf({ grants: ['keys:read'] }))
    await reader.page.getByRole('link', { name: 'API keys' }).click()
    await reader.page.locator('tbody tr').first().waitFor()
    expect(await reader.page.locator('tbody button').count()).toBe(0)
    const forged = await reader.page.evaluate(
      `fetch('/console/api/v1/keys', { method: 'POST', body: '{"name":"x","scopes":["*"]}',
        headers: { 'X-Trilho-Console': 'user', 'Content-Type': 'application/json' } }).then((a) => a.status)`,
    )
    expect(forged).toBe(403)
    await seen.leave(reader)
  }, 120_000)

  test('the audit log is looked through by what is chosen in it, and its chain is verified', async () => {
    const { sql } = gateway.database
    const one = await visit()
    const { page } = one
    await signIn(one, await gateway.keyOf({ name: 'operator' }))
    await page.getByRole('link', { name: 'Audit' }).click()
    const rows = page.locator('tbody tr')
    await rows.filter({ hasText: 'console.sign_in' }).first().waitFor()
    await rows.getByRole('link', { name: 'keys.create' }).first().click()
    await page.waitForURL(/action=keys\.create/)
    await expectNone(rows.filter({ hasText: 'console.sign_in' }))
    await page.locator('[name=from]').fill('2001-01-01')
    await page.locator('[name=to]').fill('2001-01-02')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText('Nothing matches.').waitFor()
    await page.getByRole('link', { name: 'Show all' }).click()
    await rows.filter({ hasText: 'console.sign_in' }).first().waitFor()
    await sealEntries({ sql, logger: quietLogger, nowMs: () => Date.now() + 60_000 })
    const verify = page.getByRole('button', { name: 'Verify the chain' })
    await verify.click()
    await page.getByText('The log is as it was written').waitFor()
    const head = (await page.locator('.secret').textContent()) ?? ''
    await sql`update audit_log set object = ${hostile} where id = (select min(id::text)::uuid from audit_log)`
    await page.locator('[name=anchor]').fill(head)
    await verify.click()
    await page.getByText('Findings: 1; links: ').waitFor()
    await page.getByText('not what was sealed').waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    expect(await page.locator('img').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('what is pasted is explained at its place; a code is made and seen; requests are copied', async () => {
    const one = await visit({ locale: 'pt-BR' })
    key = await gateway.keyOf({ name: 'operator' })
    const { page } = one
    await signIn(one, key)
    await page.getByRole('link', { name: 'Ferramentas' }).click()
    const paste = page.locator('textarea')
    const explain = page.getByRole('button', { name: 'Explicar', exact: true })
    const escaped = hostile.replaceAll('<', '&lt;')
    const broken = pacs008().replace('<ChrgBr>SLEV</ChrgBr>', '').replace('Pedido 42', escaped)
    await paste.fill(broken)
    await explain.click()
    await page.locator('.marked', { hasText: 'ChrgBr' }).waitFor()
    await page.getByText('Pelo SPI').waitFor()
    await page.getByText(hostile).waitFor()
    expect(await serious(page)).toEqual([])
    const card = packIso8583({ mti: '0100', fields: { 2: '4111111111111111' } }, dialects['ascii']!)
    await paste.fill(Buffer.from(card).toString('hex'))
    await explain.click()
    await page.getByText('ISO 8583 message 0100').waitFor()
    expect(await page.locator('.tree').textContent()).not.toContain('4111111111111111')
    const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url')
    await paste.fill(`${part({ alg: 'PS256' })}.${part({ txid: hostile })}.AAAA`)
    await explain.click()
    await page.getByText('Signed token (JWS)').waitFor()
    await page.getByText('PS256').first().waitFor()
    await paste.fill(`024c${'00'.repeat(586)}`)
    await explain.click()
    await page.locator('h2', { hasText: 'RSFN' }).waitFor()
    await paste.fill(hostile)
    await explain.click()
    await page.getByRole('alert').waitFor()
    await page.getByRole('link', { name: 'QR code' }).click()
    await page.locator('input[name=name]').fill('Fulano <b>de</b> Tal')
    await page.locator('input[name=city]').fill('BRASILIA')
    // Fields that both kinds of code have keep their text.
    await page.getByLabel('Tipo').selectOption('dynamic')
    await page.locator('input[name=url]').waitFor()
    expect(await page.locator('input[name=name]').inputValue()).toBe('Fulano <b>de</b> Tal')
    expect(await page.locator('input[name=city]').inputValue()).toBe('BRASILIA')
    await page.getByLabel('Tipo').selectOption('static')
    await page.locator('input[name=key]').fill('123e4567-e12b-12d1-a456-426655440000')
    await page.keyboard.press('Enter')
    const picture = page.locator('img.qr')
    await picture.waitFor()
    expect(
      await picture.evaluate((image) => (image as { naturalWidth?: number }).naturalWidth),
    ).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Explicar este código' }).click()
    await page.getByText('Pix code, static').waitFor()
    await page.getByRole('link', { name: 'Exemplos de requisição' }).click()
    await page.getByLabel('Operação').selectOption('POST /v1/spi/send')
    for (const language of ['curl', 'TypeScript', 'Python']) {
      const sample = page.getByLabel(language, { exact: true })
      await sample.getByText('/v1/spi/send').first().waitFor()
      await sample.getByText(url).first().waitFor()
    }
    await settled(page)
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('cards and digital currency: what waits, wallets, lanes; a contract is read by its form', async () => {
    const operator = await gateway.keyOf({ name: 'operator' })
    const headers = { Authorization: `Bearer ${operator}`, 'Content-Type': 'application/json' }
    const authorized = await fetch(`${gateway.urls.cardsUrl}/v1/transactions/authorize`, {
      method: 'POST',
      headers,
      body: JSON.stringify(authorizationBody('tok_visa_approved')),
    })
    const { id } = (await authorized.json()) as { id: string }
    const { sql } = gateway.database
    // The reversal is due only when the test is long over.
    await sql`
      insert into card_reversals (transaction_id, network, reverses, card_token, amount_cents,
        currency, original_mti, original_stan, original_transmission, rrn, merchant_id, next_attempt_at)
      select id, network, 'authorization', card_token, 1234, 'BRL', '0100', stan, transmission, rrn,
        merchant_id, now() + interval '1 day' from card_transactions where id = ${id}`
    await sql`update drex_contracts set label = ${hostile}`
    const one = await visit({ locale: 'pt-BR' })
    const { page } = one
    await signIn(one, operator)
    await page.getByRole('link', { name: 'Cartões' }).click()
    await page.locator('tbody', { hasText: '12,34' }).waitFor()
    await page.getByText('neta').first().waitFor()
    await settled(page)
    await page.getByRole('link', { name: 'Moeda digital' }).click()
    await page.getByRole('button', { name: 'Nova carteira' }).click()
    await page.locator('dialog input[name=label]').fill(hostile)
    await page.getByRole('dialog').getByRole('button', { name: 'Nova carteira' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Fechar' }).click()
    await page.getByRole('link', { name: hostile }).click()
    await page.getByText('Disponível').waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    await page.getByRole('link', { name: 'Moeda digital' }).click()
    await page.getByRole('link', { name: 'Filas de nonce' }).click()
    await settled(page)
    await page.getByRole('link', { name: 'Contratos' }).click()
    await page.getByRole('link', { name: hostile }).click()
    await page.getByRole('button', { name: 'Ler' }).click()
    await page.getByLabel('Resultado', { exact: true }).waitFor()
    await page.getByLabel('Função').selectOption({ label: 'balanceOf(address)' })
    await page.getByLabel('account', { exact: true }).fill('no address')
    await page.getByRole('button', { name: 'Ler' }).click()
    await page.getByRole('alert').waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    expect(await page.locator('img').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)
    await sql`delete from card_reversals where amount_cents = 1234`
  }, 120_000)

  test('a delivery of bonds is taken back, a lien is let go of: each with what its contract keeps', async () => {
    await seedDeliveryAndLien(gateway.database.sql, hostile)
    const one = await visit({ viewport: { width: 390, height: 844 } })
    const { page } = one
    await signIn(one, await gateway.keyOf({ name: 'operator' }), '/currency?show=deliveries')
    await settled(page)
    await page.getByRole('link', { name: '77' }).click()
    await page.locator('h1', { hasText: hostile }).waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Take back' }).click()
    await dialog.getByText('for 9941.23').waitFor()
    await page.keyboard.press('Escape')
    await show(page, '/currency?show=liens')
    await settled(page)
    await page.getByRole('link', { name: 'a-lien' }).click()
    await page.getByRole('button', { name: 'Let go' }).click()
    await dialog.getByText('500.00').waitFor()
    await dialog.locator('[name=amount]').fill('none')
    await dialog.getByRole('button', { name: 'Let go' }).click()
    await dialog.getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
    await settled(page)
    expect(await serious(page)).toEqual([])
    expect(await page.locator('img').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)
    await gateway.database.sql`delete from drex_agreements where id in ('a-delivery', 'a-lien')`
  }, 120_000)

  test('certificates are imported and removed; a payment appears by itself', async () => {
    const { cert, key: secret } = issueCertificate(hostile)
    const operator = await gateway.keyOf({ name: 'operator' })
    const one = await visit({ viewport: { width: 390, height: 844 } })
    const { page } = one
    await signIn(one, operator)
    await page.getByRole('link', { name: 'Certificates' }).click()
    await page.getByRole('button', { name: 'Import' }).click()
    await page.locator('dialog input[name=ispb]').fill('12345678')
    await page.locator('dialog input[name=file]').setInputFiles({
      name: 'a.pem',
      mimeType: 'text/plain',
      buffer: Buffer.from(`${cert}\n${secret}`),
    })
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Import' }).click()
    await dialog.getByText('Version 1').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    // The API escapes special characters, as the rules of distinguished names want.
    const imported = page.locator('tbody tr', { hasText: 'onerror' })
    await imported.waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    await page.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await imported.waitFor({ state: 'detached' })
    const streamed = page.waitForRequest((asked) => asked.resourceType() === 'eventsource')
    await show(page, '/payments?rail=cards')
    await streamed
    const rows = page.locator('tbody tr')
    await rows.first().waitFor({ state: 'attached' })
    const before = await rows.count()
    const authorized = await fetch(`${gateway.urls.cardsUrl}/v1/transactions/authorize`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${operator}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(authorizationBody('tok_visa_approved')),
    })
    expect(authorized.status).toBe(201)
    await rows.nth(before).waitFor({ state: 'attached' })
    await rows.first().getByRole('link').first().click()
    const request = page.locator('section', { hasText: 'ISO 8583 · 0100' })
    await request.getByText(/^\d{6}\*{6}\d{4}$/).waitFor()
    await page.getByText('ISO 8583 · 0110').waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    expect(await page.locator('img').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test.each([
    ['a laptop', { width: 1280, height: 800 }],
    ['a phone', { width: 390, height: 844 }],
  ])(
    'of many rows %s draws those that are near, and none loses its place',
    async (_, viewport) => {
      const { sql } = gateway.database
      const operator = await gateway.keyOf({ name: 'operator' })
      const authorized = await fetch(`${gateway.urls.cardsUrl}/v1/transactions/authorize`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${operator}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(authorizationBody('tok_visa_approved')),
      })
      const { id } = (await authorized.json()) as { id: string }
      const many = 400
      // The copies differ from the original in the digit before their number, as it may end in such a number itself.
      const stem = `${id.slice(0, 31)}${id[31] === '0' ? '1' : '0'}`
      await sql`
      insert into card_transactions
      select (jsonb_populate_record(one, jsonb_build_object('id', ${stem}::text || lpad(n::text, 4, '0'),
        'merchant_id', 'MANY', 'rrn', 'many' || lpad(n::text, 4, '0')))).*
      from card_transactions one, generate_series(1, ${many}::int) n where one.id = ${id}`
      const one = await visit({ viewport })
      const { page } = one
      await signIn(one, operator, '/payments?rail=cards&as=merchant_id&find=MANY')
      const rows = page.locator('tbody tr:not(.room)')
      for (let loaded = 50; loaded < many; loaded += 50) {
        await page.getByText(`${loaded} loaded`).waitFor()
        await page.getByRole('button', { name: 'More' }).click()
      }
      await page.getByText(`${many} loaded`).waitFor()
      await page.getByText('many0001', { exact: true }).scrollIntoViewIfNeeded()
      await page.locator('tr.room').first().waitFor({ state: 'attached' })
      await until(async () => (await rows.count()) < many / 2)
      const height = 'document.documentElement.scrollHeight'
      const before = await page.evaluate(height)
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight / 2)')
      await page.getByText('many0200', { exact: true }).waitFor()
      await page.evaluate('scrollTo(0, 0)')
      await page.getByText('many0400', { exact: true }).waitFor()
      await until(async () => (await rows.count()) < many / 2)
      expect(await page.evaluate(height)).toBe(before)
      await settled(page)
      expect(await serious(page)).toEqual([])
      expect(one.problems).toEqual([])
      await seen.leave(one)
      await sql`delete from card_transactions where merchant_id = 'MANY'`
    },
    120_000,
  )

  test('no page frames it', async () => {
    const outside = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () =>
        new Response(`<iframe src="${url}/console"></iframe>`, {
          headers: { 'Content-Type': 'text/html' },
        }),
    })
    const page = await seen.browser.newPage()
    const refused = page.waitForEvent('console', (message) =>
      message.text().includes('frame-ancestors'),
    )
    await page.goto(outside.url.href)
    await refused
    await page.close()
    await outside.stop(true)
  }, 120_000)
})
