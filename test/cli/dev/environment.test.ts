import { expect, test } from 'bun:test'
import { loadSettings } from '#src/platform/config/index.ts'
import { devEnvironment } from '../../../src/cli/dev/environment.ts'
import { pixSettings } from '../../../src/pix/config.ts'

const state = { keyFile: 'keys.json', masterKey: 'a' }

/** Holds the port, unless another process on this machine already does. */
const occupy = (port: number) => {
  try {
    return Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => {} } })
  } catch {
    return undefined
  }
}

test('gRPC gets another port of this machine when its own is busy, and the user is told', () => {
  const holder = occupy(9090)
  const { env, notes } = devEnvironment({}, state, undefined)
  holder?.stop(true)
  const [host, port] = (env['GRPC_ADDR'] ?? '').split(':')
  expect(host).toBe('127.0.0.1')
  expect(port).toMatch(/^\d+$/)
  expect(port).not.toBe('9090')
  expect(notes).toContain(`port 9090 is busy: using ${port} for gRPC`)
  expect(env['GRPC_REFLECTION_ENABLED']).toBe('true')
})

test('what the user set for gRPC stays', () => {
  const given = { GRPC_ADDR: ':7000', GRPC_REFLECTION_ENABLED: 'false' }
  expect(devEnvironment(given, state, undefined).env).toMatchObject(given)
})

test('lines of cards are texts, unless the user wants them otherwise', () => {
  expect(devEnvironment({}, state, undefined).env['CARDGW_LOG_FORMAT']).toBe('text')
  const given = { CARDGW_LOG_FORMAT: 'json', CARDGW_LOG_LEVEL: 'debug' }
  expect(devEnvironment(given, state, undefined).env).toMatchObject(given)
})

test.each([
  ['127.0.0.1:8123', '127.0.0.1:8123'],
  ['Gateway.example.com:8123', 'gateway.example.com:8123'],
  [':8123', 'localhost:8123'],
  ['0.0.0.0:8123', 'localhost:8123'],
  ['[::1]:8123', 'localhost:8123'],
  [`${'long.'.repeat(8)}example.com:8123`, 'localhost:8123'],
])('codes of charges lead to what listens on %s', (address, location) => {
  const { env } = devEnvironment({ HTTP_ADDR: address }, state, undefined)
  expect(env).toMatchObject({ HTTP_ADDR: address, PIX_LOCATION_HOST: location })
  expect(loadSettings({ pix: pixSettings }, env).problems).toEqual([])
})
