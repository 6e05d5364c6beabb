import { expect, test } from 'bun:test'
import { createCatalogue, keptMs } from '#src/spi/api/catalogue/index.ts'
import { createCentralBank } from '../../../../src/simulators/central-bank/index.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { answer, interfaceClient, rawServer } from '../../link/support.ts'

const { key, record } = testKey('spi:catalog')
const appOf = (feature: ReturnType<typeof createCatalogue>) =>
  testApp(feature.routes ?? [], { keys: [record] })

test('the central bank’s catalogues as JSON and as they came', async () => {
  const bank = await createCentralBank({})
  const feature = createCatalogue({ client: interfaceClient({ PRIMARY: bank.url }), missing: [] })
  const { call } = appOf(feature)
  for (const direction of ['in', 'out']) {
    const json = (await (await call('GET', `/v1/catalog/${direction}`, { key })).json()) as {
      messages: readonly object[]
    }
    expect(json.messages[0]).toEqual({
      name: expect.stringMatching(/^pacs\.008\.spi\.1\.\d+$/),
      type: 'pacs.008',
      version: expect.stringMatching(/^1\.\d+$/),
    })
    const xml = await call('GET', `/v1/catalog/${direction}`, {
      key,
      headers: { Accept: 'application/xml' },
    })
    expect(xml.headers.get('Content-Type')).toBe('application/xml')
    expect(await xml.text()).toStartWith('<Catalog><Message>pacs.008')
    expect(xml.headers.get('Vary')).toBe('Accept')
  }
  const typeFor = async (accept: string) => {
    const headers = { Accept: accept }
    const given = await call('GET', '/v1/catalog/in', { key, headers })
    expect(given.headers.get('Vary')).toBe('Accept')
    return given.headers.get('Content-Type')
  }
  expect(await typeFor('text/html, application/xml;q=0.9, */*;q=0.1')).toBe('application/xml')
  expect(await typeFor('application/json, application/xml')).toStartWith('application/json')
  expect(await typeFor('application/xml;q=0, */*')).toStartWith('application/json')
  expect(await typeFor('application/json;q=0, application/xml')).toBe('application/xml')
  const [check] = (await feature.checks?.()) ?? []
  expect(check).toMatchObject({ status: 'ok' })
  await bank.stop()
})

test('is asked once a minute; a failure is not kept', async () => {
  let nowMs = 0
  const server = rawServer((_, count) =>
    count === 1 ? answer(500) : answer(200, {}, '<Catalog><Message>odd</Message></Catalog>'),
  )
  const feature = createCatalogue({
    client: interfaceClient({ PRIMARY: server.url }),
    missing: [],
    tickMs: () => nowMs,
  })
  const { call } = appOf(feature)
  const failed = await call('GET', '/v1/catalog/in', { key })
  expect(failed.status).toBe(502)
  expect(await failed.json()).toMatchObject({
    code: 'message_interface_unavailable',
    interface_status: 500,
  })
  for (const moment of [0, keptMs - 1]) {
    nowMs = moment
    const found = await call('GET', '/v1/catalog/in', { key })
    expect(await found.json()).toEqual({ messages: [{ name: 'odd', type: '', version: '' }] })
  }
  expect(server.requests).toHaveLength(2)
  nowMs = keptMs
  await call('GET', '/v1/catalog/in', { key })
  expect(server.requests).toHaveLength(3)
  server.stop()
})

test('the other channel is asked where the first has no answer', async () => {
  const [bad, good] = [
    rawServer(() => answer(500)),
    rawServer(() => answer(200, {}, '<Catalog><Message>odd</Message></Catalog>')),
  ]
  const client = interfaceClient({ PRIMARY: bad.url, SECONDARY: good.url })
  const feature = createCatalogue({ client, missing: [] })
  const { call } = appOf(feature)
  const found = await call('GET', '/v1/catalog/in', { key })
  expect(await found.json()).toMatchObject({ messages: [{ name: 'odd' }] })
  expect([bad.requests.length, good.requests.length]).toEqual([1, 1])
  // That one of them has no answer is still told.
  expect(await feature.checks?.()).toMatchObject([
    { name: 'message interface, PRIMARY', status: 'failed' },
    { name: 'message interface, SECONDARY', status: 'ok' },
  ])
  bad.stop()
  good.stop()
})

test('nonsense and an absent bank are 502; without settings 503', async () => {
  const server = rawServer(() => answer(200, {}, 'nonsense'))
  const feature = createCatalogue({ client: interfaceClient({ PRIMARY: server.url }), missing: [] })
  expect((await appOf(feature).call('GET', '/v1/catalog/in', { key })).status).toBe(502)
  server.stop()
  const away = createCatalogue({ client: interfaceClient({ PRIMARY: server.url }), missing: [] })
  expect((await appOf(away).call('GET', '/v1/catalog/out', { key })).status).toBe(502)
  expect((await away.checks?.())?.[0]).toMatchObject({ status: 'failed' })
  const none = createCatalogue({ client: undefined, missing: ['ISPB'] })
  const missing = await appOf(none).call('GET', '/v1/catalog/in', { key })
  expect(missing.status).toBe(503)
  expect(await missing.text()).toContain('ISPB')
})
