/** Charges of the API Pix in a real browser: a person makes, finds and ends them, and sees each consequence. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hasBrowser } from '../support/browser.ts'
import { farYear } from '../support/far-year.ts'
import type { GatewayHere } from '../support/gateway-here.ts'
import {
  expectNone,
  hostile,
  openConsole,
  type SeenConsole,
  serious,
  settled,
  show,
  signIn,
} from './visit.ts'

const pixKey = '7d9f0335-8dcc-4054-9bf9-0dbd61d36906'
const debtor = { cpf: '45164632481', nome: `Fulano ${hostile.slice(0, 60)}` }

describe.skipIf(!hasBrowser)('charges in Chromium (needs /usr/bin/chromium)', () => {
  let seen: SeenConsole
  let gateway: GatewayHere
  let url = ''
  let operator = ''
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into as they come
  let api: (method: string, path: string, body?: object) => Promise<any>

  beforeAll(async () => {
    seen = await openConsole()
    ;({ gateway, url } = seen)
    operator = await gateway.keyOf({ name: 'operator' })
    api = async (method, path, body) => {
      const headers = { Authorization: `Bearer ${operator}`, 'Content-Type': 'application/json' }
      const answer = await fetch(`${url}${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      const told = await answer.json()
      expect([path, answer.ok, told]).toEqual([path, true, told])
      return told
    }
    await api('PUT', '/v1/pix/receivers', {
      key: pixKey,
      name: 'Padaria',
      city: 'Sao Paulo',
      tax_id: '12345678000195',
    })
  })
  afterAll(() => seen?.[Symbol.asyncDispose]())

  test('a charge is made, seen with its code, and removed; who may only read sees no act', async () => {
    const one = await seen.visit({ viewport: { width: 390, height: 844 } })
    const { page } = one
    await signIn(one, operator)
    await page.getByRole('link', { name: 'Charges' }).click()
    await page.getByText('Nothing in these days.').waitFor()
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'New charge' }).click()
    await dialog.getByText('until then no money moves').waitFor()
    await dialog.locator('[name=amount]').fill('none')
    await dialog.locator('[name=key]').fill(pixKey)
    await dialog.locator('[name=question]').fill(hostile)
    const make = dialog.getByRole('button', { name: 'New charge' })
    await make.click()
    await dialog.getByRole('alert').getByText('cob.valor').waitFor()
    expect(await serious(page)).toEqual([])
    await dialog.locator('[name=amount]').fill('1.234,5')
    await make.click()
    await dialog.getByRole('link').click()
    await page.locator('h1', { hasText: 'R$1,234.50' }).waitFor()
    const picture = page.locator('img.qr')
    await picture.waitFor()
    expect(
      await picture.evaluate((image) => (image as { naturalWidth?: number }).naturalWidth),
    ).toBeGreaterThan(0)
    await page.getByText(hostile).first().waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    const path = new URL(page.url()).pathname.replace('/console', '')
    const reader = await seen.visit()
    await signIn(reader, await gateway.keyOf({ grants: ['cob:read'] }), path)
    await reader.page.locator('h1', { hasText: 'R$1,234.50' }).waitFor()
    await expectNone(reader.page.getByRole('button', { name: 'Remove' }))
    const forged = await reader.page.evaluate(
      `fetch('/console/api/pix/v2/cob/' + location.pathname.split('/').at(-1), { method: 'PATCH',
        body: '{"status":"REMOVIDA_PELO_USUARIO_RECEBEDOR"}',
        headers: { 'X-Trilho-Console': 'user', 'Content-Type': 'application/json' } }).then((a) => a.status)`,
    )
    expect(forged).toBe(403)
    await page.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByText('of R$1,234.50 can be paid by nobody any more').waitFor()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByText('removed by its receiver').first().waitFor()
    await expectNone(page.getByRole('button', { name: 'Remove' }))
    expect(one.problems).toEqual([])
    await seen.leave(one)
    await seen.leave(reader)
  }, 120_000)

  test('the newest charges come first, though the standard counts pages from the oldest on', async () => {
    const { sql } = gateway.database
    const many = 120
    for (let at = 0; at < many; at++) {
      await api('POST', '/pix/v2/cob', {
        valor: { original: `${at + 1}.00` },
        chave: pixKey,
        devedor: debtor,
      })
    }
    const one = await seen.visit()
    const { page } = one
    await signIn(one, operator, '/charges?show=cob&status=ATIVA')
    const amounts = page.locator('tbody tr:not(.room) td.number:not(.quiet)')
    await page.getByText('R$120.00').waitFor()
    expect(await amounts.first().textContent()).toBe('R$120.00')
    while (await page.getByRole('button', { name: 'Show more' }).isVisible()) {
      const before = await page.getByText(/^\d+ loaded$/).textContent()
      await page.getByRole('button', { name: 'Show more' }).click()
      await expectNone(page.getByText(before ?? '', { exact: true }))
    }
    await page.getByText(`${many} loaded`).waitFor()
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    await page.getByText('R$1.00', { exact: true }).waitFor()
    await page.getByPlaceholder('CPF or CNPJ of the payer').fill('451.646.324-82')
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByText('Nothing in these days.').waitFor()
    expect(await page.locator('img').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)
    await sql`truncate pix_charges cascade`
  }, 120_000)

  test('of a recurrence the payer is asked, then charged; request, charge and recurrence are ended', async () => {
    const { sql } = gateway.database
    const { idRec } = await api('POST', '/pix/v2/rec', {
      vinculo: { contrato: 'C-1', objeto: 'Academia', devedor: debtor },
      calendario: { dataInicial: `${farYear}-01-01`, periodicidade: 'MENSAL' },
      valor: { valorRec: '35.00' },
      politicaRetentativa: 'PERMITE_3R_7D',
    })
    const one = await seen.visit({ locale: 'pt-BR' })
    const { page } = one
    await signIn(one, operator, '/charges?show=rec')
    await settled(page)
    expect(await serious(page)).toEqual([])
    await page.getByRole('link', { name: idRec }).click()
    const dialog = page.getByRole('dialog')
    const act = async (title: string, consequence: string, fields: Record<string, string> = {}) => {
      await page.getByRole('button', { name: title, exact: true }).click()
      await dialog.getByText(consequence).waitFor()
      for (const [name, value] of Object.entries(fields)) {
        await dialog.locator(`[name=${name}]`).fill(value)
      }
      await dialog.getByRole('button', { name: title, exact: true }).click()
    }
    const close = () => dialog.getByRole('button', { name: 'Fechar' }).click()
    await act('Consultar o pagador', 'Nada é cobrado com isso', {
      tax_id: '451.646.324-81',
      ispb: '91193552',
      account: '550689',
      branch: '2569',
    })
    await dialog.getByRole('link').click()
    await page.locator('h1', { hasText: 'Solicitações a pagadores' }).waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    await page.getByRole('link', { name: idRec }).click()
    await page.locator('h1', { hasText: '35,00' }).waitFor()
    await page.locator('.parties').getByRole('link').click()
    await act('Cancelar solicitação', 'ele pode ser consultado de novo')
    await close()
    await page.getByText('cancelada').first().waitFor()

    // The payer has authorised it: his institution would tell so.
    await sql`update pix_recurrences set status = 'APROVADA', payer = ${JSON.stringify({
      taxId: '45164632481',
      ispb: '91193552',
      account: '550689',
      branch: null,
      town: null,
    })} where id = ${idRec}`
    await page.goto(`${url}/console/charges/rec/${idRec}`)
    await act('Cobrar', 'sem ser consultado de novo', {
      amount: '35,00',
      day: `${farYear}-01-20`,
      account: '19682',
    })
    await dialog.getByRole('link').click()
    await page.locator('h1', { hasText: '35,00' }).waitFor()
    await page.getByText(`${farYear}-01-20`, { exact: true }).waitFor()
    await settled(page)
    expect(await serious(page)).toEqual([])
    await act('Cancelar cobrança', 'não será recebida')
    await close()
    await page.getByText('cancelada').first().waitFor()
    await show(page, '/charges?show=cobr')
    await page.locator('tbody').getByText('cancelada').waitFor()
    await show(page, `/charges/rec/${idRec}`)
    await act('Cancelar recorrência', 'termina de vez')
    await close()
    await page.getByText('cancelada').first().waitFor()
    await expectNone(page.getByRole('button', { name: 'Cobrar' }))

    const { id } = await api('POST', '/pix/v2/locrec')
    const { idRec: other } = await api('POST', '/pix/v2/rec', {
      vinculo: { contrato: 'C-2', devedor: debtor },
      calendario: { dataInicial: `${farYear}-01-01`, periodicidade: 'ANUAL' },
      politicaRetentativa: 'NAO_PERMITE',
      loc: id,
    })
    await show(page, '/charges?show=locrec')
    const row = page.locator('tbody tr', { hasText: other })
    await row.getByRole('button', { name: 'Desvincular' }).click()
    await dialog.getByText(`deixa de mostrar ${other}`).waitFor()
    await dialog.getByRole('button', { name: 'Desvincular' }).click()
    await close()
    // At once, sooner than the clock asks.
    await row.waitFor({ state: 'detached', timeout: 20_000 })
    await page.locator('tbody').getByText('nada').waitFor()
    expect(await page.locator('img:not(.qr)').count()).toBe(0)
    expect(one.problems).toEqual([])
    await seen.leave(one)
  }, 120_000)
})
