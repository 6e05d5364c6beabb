/** Claims, infraction reports and refund requests in a real browser, with each consequence. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseKey } from '#src/platform/security/index.ts'
import { fresh } from '../spi/in/worker/support.ts'
import { hasBrowser } from '../support/browser.ts'
import type { GatewayHere } from '../support/gateway-here.ts'
import { askUs } from './seeds.ts'
import {
  expectNone,
  hostile,
  openConsole,
  type SeenConsole,
  serious,
  settled,
  show,
  signIn,
  signOut,
} from './visit.ts'

const [ispb, other] = ['12345678', '99999A04']
const owner = { tax_id: '98765432100', name: hostile.slice(0, 100) }
const phone = { width: 390, height: 844 }

describe.skipIf(!hasBrowser)('the directory in Chromium (needs /usr/bin/chromium)', () => {
  let seen: SeenConsole
  let gateway: GatewayHere
  let url = ''
  let operator = ''

  beforeAll(async () => {
    seen = await openConsole()
    ;({ gateway, url } = seen)
    operator = await gateway.keyOf({ name: 'operator' })
  })
  afterAll(() => seen?.[Symbol.asyncDispose]())

  test('what others ask is found under what needs attention, and answered there', async () => {
    const { sql } = gateway.database
    const { key, payment } = await askUs(seen, operator, owner, hostile)
    const one = await seen.visit({ viewport: phone })
    const { page } = one
    await signIn(one, operator, '/attention')
    const card = (title: string) =>
      page.locator('section.card', { has: page.getByRole('heading', { name: title }) })
    const [claims, reports, refunds] = [
      card('Claims to keys'),
      card('Infraction reports to answer'),
      card('Refund requests to answer'),
    ]
    // The stream tells of each once the gateway has read the directory’s lists.
    await claims?.getByRole('link', { name: key }).waitFor()
    await reports?.getByRole('link', { name: payment }).waitFor()
    await refunds?.getByRole('link', { name: payment }).waitFor()
    await page.locator('aside .many').waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])

    const dialog = page.getByRole('dialog')
    const act = async (title: string, consequence: string, fields: Record<string, string> = {}) => {
      await page.getByRole('button', { name: title, exact: true }).first().click()
      await dialog.getByText(consequence).waitFor()
      for (const [name, value] of Object.entries(fields)) {
        await dialog.locator(`[name=${name}]`).fill(value)
      }
      await dialog.getByRole('button', { name: title, exact: true }).click()
    }
    const close = () => dialog.getByRole('button', { name: 'Close' }).click()

    await act('Give the key up', `${key} leaves this institution and goes to ${other}`)
    await close()
    await expectNone(page.getByRole('link', { name: key }))

    await act('Acknowledge', `${other} learns that its report about ${payment} has arrived`)
    await close()
    await act('Agree', 'is marked in the directory for this fraud', { analysis: hostile })
    expect(await serious(page)).toEqual([])
    await close()
    await expectNone(page.getByRole('button', { name: 'Agree' }))

    await act('Give it back', 'R$10.50 is asked for', { amount: '10,51' })
    await dialog.getByRole('alert').waitFor()
    await dialog.locator('[name=amount]').fill('4')
    await dialog.getByRole('button', { name: 'Give it back' }).click()
    await dialog.getByText('The directory has not answered yet').waitFor()
    await close()
    await expectNone(page.getByRole('button', { name: 'Give it back' }))
    const headers = { Authorization: `Bearer ${operator}` }
    const read = await fetch(`${url}/v1/pix/payments/${payment}`, { headers })
    expect(await read.json()).toMatchObject({ held: '4.00', refundable: '6.50' })

    await show(page, '/pix-keys?show=infraction-reports')
    await page.getByRole('link', { name: payment }).click()
    await page.locator('.timeline').getByText('closed').waitFor()
    await page.getByText('account of the scammer').waitFor()
    await page.getByText(hostile).first().waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    expect(await page.locator('main img').count()).toBe(0)
    const acts = await sql<{ action: string }[]>`
      select distinct action from audit_log
      where action like 'dict.%' and actor = ${parseKey(operator)?.id ?? ''} order by action`
    expect(acts.map(({ action }) => action)).toEqual([
      ...['dict.claim.act', 'dict.infraction', 'dict.refund', 'dict.register'],
    ])
    expect(one.problems.filter((problem) => !problem.includes('status of 4'))).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('what we ask is made by its form, looked for, and withdrawn', async () => {
    const { directory } = seen
    const key = 'eva@example.com'
    directory.register({
      key_type: 'EMAIL',
      key,
      ...owner,
      ispb: other,
      account: '1',
      account_type: 'CACC',
    })
    const payment = fresh.endToEndId()
    directory.disputes.addTransaction({
      id: payment,
      debited: ispb,
      credited: other,
      amountCents: 5_000n,
      settledMs: Date.now(),
    })
    const one = await seen.visit({ locale: 'pt-BR' })
    const { page } = one
    await signIn(one, operator)
    const dialog = page.getByRole('dialog')
    const make = async (tab: string, title: string, fields: Record<string, string>) => {
      await show(page, '/pix-keys')
      await page.getByRole('link', { name: tab }).click()
      await settled(page)
      expect(await serious(page)).toEqual([])
      await page.getByRole('button', { name: title }).click()
      for (const [name, value] of Object.entries(fields)) {
        const field = dialog.locator(`[name=${name}]`)
        const isChoice = (await field.evaluate((found) => found.tagName)) === 'SELECT'
        await (isChoice ? field.selectOption(value) : field.fill(value))
      }
      expect(await serious(page)).toEqual([])
      await dialog.getByRole('button', { name: title }).click()
      await dialog.getByRole('link').click()
      await page.locator('.timeline').getByText('aberta').first().waitFor()
      await settled(page)
      expect(await serious(page)).toEqual([])
    }
    const end = async (title: string, consequence: string) => {
      await page.getByRole('button', { name: title }).click()
      await dialog.getByText(consequence).waitFor()
      await dialog.getByRole('button', { name: title }).click()
      await dialog.getByRole('button', { name: 'Fechar' }).click()
      await page.locator('header .badge').getByText('cancelada').waitFor()
      await expectNone(page.getByRole('button', { name: title }))
    }
    await make('Reivindicações', 'Nova reivindicação', {
      key_type: 'EMAIL',
      key,
      tax_id: '987.654.321-00',
      name: 'Eva',
      number: '500100',
      opened: '2020-01-10',
    })
    await end('Desistir da reivindicação', `Nossa reivindicação de ${key} termina`)
    await make('Notificações de infração', 'Nova notificação', {
      payment,
      situation: 'COERCION',
      details: hostile,
    })
    await page.getByText(hostile).first().waitFor()
    await end('Cancelar a notificação', payment)
    await make('Solicitações de devolução', 'Nova solicitação', {
      payment,
      reason: 'OPERATIONAL_FLAW',
      amount: '12,5',
      details: hostile,
    })
    await page.locator('h1', { hasText: '12,50' }).waitFor()
    await end('Cancelar a solicitação', '12,50')
    await show(page, '/pix-keys?show=refunds')
    await page.getByLabel('Nosso lado').selectOption('asking')
    await page.waitForURL(/role=asking/)
    await page.locator('tbody').getByText(payment).waitFor()
    await page.getByLabel('EndToEndId do pagamento').fill(fresh.endToEndId())
    await page.keyboard.press('Enter')
    await page.getByText('Nada corresponde.').waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)

  test('who may not write sees no act, who may not pay gives nothing back, and forging is refused', async () => {
    const { sql } = gateway.database
    await sql`update dict_disputes set status = 'open', wanted = null where kind = 'refund' and role = 'asked'`
    const [waiting] = await sql<{ id: string }[]>`
      select id from dict_disputes where kind = 'refund' and role = 'asked'`
    const path = `/pix-keys/refunds/${waiting?.id}`
    const one = await seen.visit()
    const { page } = one
    await signIn(one, await gateway.keyOf({ grants: ['dict:read', 'dict:write'] }))
    await page.goto(`${url}/console${path}`)
    await page.getByRole('button', { name: 'Reject' }).waitFor()
    expect(await page.getByRole('button', { name: 'Give it back' }).count()).toBe(0)
    const forge = `fetch('/console/api/v1/dict/refunds/${waiting?.id}/close', { method: 'POST',
      body: '{"result":"TOTALLY_ACCEPTED"}',
      headers: { 'X-Trilho-Console': 'user', 'Content-Type': 'application/json' } }).then((a) => a.status)`
    expect(await page.evaluate(forge)).toBe(403)
    await signOut(one)
    await signIn(one, await gateway.keyOf({ grants: ['dict:read'] }))
    for (const shown of [path, '/attention', '/pix-keys?show=claims']) {
      await show(page, shown)
      await settled(page)
      for (const name of ['Reject', 'Give it back', 'New claim']) {
        expect(await page.getByRole('button', { name }).count()).toBe(0)
      }
    }
    expect(await page.evaluate(forge)).toBe(403)
    // Without a directory in the gateway, the page shows nothing of it.
    await page.route(/\/v1\/dict\//, (route) =>
      route.fulfill({
        status: 503,
        json: {
          type: '/v1/errors/not_configured',
          code: 'not_configured',
          detail: 'Set DICT_URL.',
        },
      }),
    )
    await show(page, '/attention')
    await settled(page)
    expect(await page.locator('main').textContent()).not.toContain('DICT_URL')
    expect(one.problems.filter((problem) => !/status of (403|503)/.test(problem))).toEqual([])
    await seen.leave(one)
  }, 120_000)
})
