import { expect, setDefaultTimeout, test } from 'bun:test'
import { startGatewayHere } from '../support/gateway-here.ts'

setDefaultTimeout(60_000)

const times = 'inicio=2020-01-01T00:00:00Z&fim=2099-01-01T00:00:00Z'

test('the API Pix has a listener of its own where PIX_API_ADDR says so, and that has nothing else', async () => {
  await using gateway = await startGatewayHere({ PIX_API_ADDR: '127.0.0.1:0' })
  const key = await gateway.keyOf()
  const { httpUrl, pixUrl = '' } = gateway.urls
  const statusOf = async (url: string, method = 'GET'): Promise<number> =>
    (await fetch(url, { method, headers: { Authorization: `Bearer ${key}` } })).status
  for (const path of [`/pix/v2/cob?${times}`, `/pix/v2/pix?${times}`, `/pix/v2/rec?${times}`]) {
    expect([path, await statusOf(pixUrl + path)]).toEqual([path, 200])
    expect([path, await statusOf(httpUrl + path)]).toEqual([path, 404])
  }
  // A request without a body, which only a route refuses.
  expect(await statusOf(`${pixUrl}/oauth/token`, 'POST')).not.toBe(404)
  expect(await statusOf(`${httpUrl}/oauth/token`, 'POST')).toBe(404)
  // Payers' institutions, operators and everybody else stay where they were.
  for (const path of ['/v1/pix/receivers', '/v1/messages', '/v1/wallets', '/v1/drex/networks']) {
    expect([path, await statusOf(httpUrl + path)]).toEqual([path, 200])
    expect([path, await statusOf(pixUrl + path)]).toEqual([path, 404])
  }
  expect(await statusOf(`${httpUrl}/qr/v2/jwks.json`)).not.toBe(404)
  expect(await statusOf(`${pixUrl}/qr/v2/jwks.json`)).toBe(404)
  // Whoever watches the listener asks it, unless operators have their own.
  expect(await statusOf(`${pixUrl}/ready`)).toBe(200)
  const { paths } = (await (await fetch(`${httpUrl}/openapi.json`)).json()) as { paths: object }
  expect(Object.keys(paths)).toContain('/v1/messages')
})

test('without PIX_API_ADDR it is beside the rest', async () => {
  await using gateway = await startGatewayHere()
  expect(gateway.urls.pixUrl).toBeUndefined()
  const key = await gateway.keyOf()
  const headers = { Authorization: `Bearer ${key}` }
  expect((await fetch(`${gateway.urls.httpUrl}/pix/v2/cob?${times}`, { headers })).status).toBe(200)
})
